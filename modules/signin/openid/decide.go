package openid

import "github.com/postrider/postrider/ent"

// known is what is known here of a person at the provider.
type known struct {
	linked  *ent.User // whom issuer and subject belong to; nil if there is no such user
	holder  *ent.User // who has the email; nil if there is no such user
	other   bool      // the holder is linked with another subject of the issuer
	invited bool      // an invitation to the email is open
}

// step is what is done for a person who may come in.
type step int

const (
	enter  step = iota // who is linked comes in
	link               // who has the email is linked, and comes in
	accept             // a user is made, and accepts what they are invited to
	join               // a user is made, and joins the team of the setting
)

// decide says what is done for a person, or why they do not get in.
func (c Config) decide(who claims, k known) (step, error) {
	switch {
	case k.linked != nil && k.linked.DisabledAt != nil:
		return 0, refuse(Disabled)
	case k.linked != nil:
		return enter, nil
	case who.email() == "":
		return 0, refuse(NoEmail)
	case !who.verified(c.TrustEmail):
		return 0, refuse(Unverified)
	case k.holder != nil:
		return link, mayLink(k)
	case k.invited && !c.NoInvites:
		return accept, nil
	case c.Join.AccountID != "":
		return join, nil
	}
	return 0, refuse(Unknown)
}

// mayLink judges whether an email alone links its holder with a subject.
func mayLink(k known) error {
	switch {
	case k.holder.DisabledAt != nil:
		return refuse(Disabled)
	case k.holder.Operator:
		return refuse(Operator)
	case k.other:
		return refuse(Other)
	}
	return nil
}
