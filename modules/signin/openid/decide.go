package openid

import "github.com/postrider/postrider/ent"

// storedState is what the database knows about a user of the provider.
type storedState struct {
	linked  *ent.User // the user linked to issuer and subject, or nil
	holder  *ent.User // the user with the email, or nil
	other   bool      // that user is linked to another subject of the issuer
	invited bool      // the email has an open invitation
}

// step says how to admit a user of the provider.
type step int

const (
	enter  step = iota // sign in the linked user
	link               // link and sign in the user with the email
	accept             // create a user and accept their invitations
	join               // create a user and add them to the team in POSTRIDER_OIDC_JOIN
)

// decide returns how to admit a user of the provider, or a Refusal.
func (c Config) decide(who claims, k storedState) (step, error) {
	switch {
	case k.linked != nil && k.linked.DisabledAt != nil:
		return 0, refuse(Disabled)
	case k.linked != nil:
		return enter, nil
	case who.storedEmail() == "":
		return 0, refuse(NoEmail)
	case !who.isVerified(c.TrustEmail):
		return 0, refuse(Unverified)
	case k.holder != nil:
		return link, checkLink(k)
	case k.invited && !c.NoInvites:
		return accept, nil
	case c.Join.AccountID != "":
		return join, nil
	}
	return 0, refuse(Unknown)
}

// checkLink returns a Refusal unless the email alone is sufficient to link its user to a subject.
func checkLink(k storedState) error {
	switch {
	case k.holder.DisabledAt != nil:
		return refuse(Disabled)
	case k.holder.Operator:
		return refuse(Operator)
	case k.other:
		return refuse(OtherSubject)
	}
	return nil
}
