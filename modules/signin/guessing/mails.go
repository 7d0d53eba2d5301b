package guessing

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/runtime/base/fault"
)

// Emails per day that users can cause to other people's mailboxes: per mailbox, per user and per network.
const (
	mailsToMailbox   = 5
	mailsOfInviter   = 100
	invitesOfNetwork = 300
)

var _ team.MailBounds = (*Guard)(nil)

// CountInvite counts an email that a user causes to another person's mailbox. Error: Limit.
func (g *Guard) CountInvite(ctx context.Context, tx *ent.Tx, inviterID, email string) error {
	_, err := g.Count(ctx, tx, g.mailboxAttempt(email, inviterID, audit.OriginOf(ctx).Addr))
	return WithMessage(err, "The daily limit of these emails is reached (%d to one address, %d from one user)",
		mailsToMailbox, mailsOfInviter)
}

func (g *Guard) mailboxAttempt(email, from string, addr netip.Addr) Attempt {
	_, wide := networksOf(addr)
	a := Attempt{bounds: []bound{
		{name: g.hash("mailbox", mailboxOf(email)), most: mailsToMailbox, window: day},
		{name: g.hash("mails of person", from), most: mailsOfInviter, window: day},
	}}
	if addr.IsValid() {
		a.bounds = append(a.bounds, bound{name: g.hash("mails of network", wide), most: invitesOfNetwork, window: day})
	}
	return a
}

// mailboxOf returns an address without the detail that many servers deliver to the same mailbox (RFC 5233), so
// that ada+1@example.com and ada+2@example.com share a bound.
func mailboxOf(email string) string {
	at := strings.LastIndexByte(email, '@')
	if plus := strings.IndexByte(email, '+'); plus > 0 && plus < at {
		return email[:plus] + email[at:]
	}
	return email
}

// WithMessage replaces the message of a limit error.
func WithMessage(err error, format string, args ...any) error {
	var limit *fault.Error
	if !errors.As(err, &limit) || limit.Kind != fault.Limit {
		return err
	}
	return &fault.Error{Kind: fault.Limit, Code: limit.Code, RetryAfter: max(limit.RetryAfter, time.Second),
		Message: fmt.Sprintf(format, args...)}
}
