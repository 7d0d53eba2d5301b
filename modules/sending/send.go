package sending

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/policy"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Request is one POST /emails request, or its equivalent in another API.
type Request struct {
	Message Message
	// Claim is the caller's idempotency key, or nil.
	Claim *idempotency.Claim
	// Render returns the response to store under the Claim. It is called only if there is a Claim.
	Render func(Receipt) idempotency.Response
	// Guard decides, in the transaction that stores the message, whether to store it; nil: always.
	Guard *MessageGuard
}

// Receipt confirms that a message is durably stored.
type Receipt struct {
	ID     string // msg_…
	Status string // sent, scheduled or failed
	// Suppressed lists the suppressed recipients that prevent the message from being sent.
	Suppressed []string
	// Replay is set if an earlier request used the same key. Its stored response applies, and this request sent
	// nothing.
	Replay *idempotency.Response
}

// Send stores a message for delivery and returns once it is durable. A message to a suppressed recipient is
// stored as failed. It returns Invalid with all invalid fields, Forbidden if the policy does not allow the
// message, Limit if a cap is reached, Conflict for a concurrent request with the same key and another body,
// Unavailable if nothing could be stored, or ErrNotHeld if the Guard refused the message.
func (s *Service) Send(ctx context.Context, caller accounts.Caller, r Request) (Receipt, error) {
	a, err := s.prepareMessage(ctx, caller, r.Message, clock.Now())
	if err != nil {
		return Receipt{}, err
	}
	a.setGuard(r.Guard)
	sub := &submission{items: []*acceptance{a}, claim: r.Claim, size: a.size}
	if r.Claim != nil {
		sub.answer = func() idempotency.Response { return r.Render(a.receipt()) }
	}
	replay, err := s.writer.acceptSubmission(ctx, sub)
	switch {
	case err != nil:
		return Receipt{}, err
	case replay != nil:
		return Receipt{Replay: replay}, nil
	default:
		return a.receipt(), nil
	}
}

// prepareMessage does everything that needs no transaction: template, validation and policy.
func (s *Service) prepareMessage(ctx context.Context, caller accounts.Caller, m Message,
	now time.Time) (*acceptance, error) {
	msg, err := s.completeMessage(ctx, caller.AccountID, m, now)
	if err != nil {
		return nil, err
	}
	identity, err := s.domains.Identity(ctx, caller.AccountID, msg.from)
	if err != nil {
		return nil, err
	}
	account, err := s.accounts.Account(ctx, caller.AccountID)
	if err != nil {
		return nil, err
	}
	if err := (policy.Input{Caller: caller, Account: account, Identity: identity,
		Recipients: msg.envelopeRecipients()}).Check(); err != nil {
		return nil, err
	}
	a := newAcceptance(caller, identity, msg, now)
	if a.email.unsubscribe {
		if err := s.checkLink(a, msg); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// completeMessage renders the template and validates the message. It reports the errors of both together.
func (s *Service) completeMessage(ctx context.Context, accountID string, m Message,
	now time.Time) (parsedMessage, error) {
	msg, wrong := m.parse(now)
	if m.Template == nil || wrong["template"] != "" {
		return msg, wrong.Err()
	}
	rendered, err := s.templates.Render(ctx, accountID, templates.Ref{ID: m.Template.ID, Alias: m.Template.Alias,
		Locale: m.Template.Locale, TimeZone: m.Template.TimeZone, At: m.Template.At}, m.Template.Variables)
	if err != nil {
		var refused *fault.Error
		if !errors.As(err, &refused) || refused.Kind != fault.Invalid || len(refused.Fields) == 0 {
			return parsedMessage{}, err
		}
		maps.Copy(wrong, refused.Fields)
		return parsedMessage{}, wrong.Err()
	}
	whole := fault.Fields{}
	msg, wrong = m.fillFrom(rendered, whole).parse(now)
	maps.Copy(wrong, whole)
	msg.templateID, msg.templateVersion = rendered.TemplateID, rendered.Version
	msg.findings = rendered.Findings
	return msg, wrong.Err()
}

// envelopeRecipients returns all recipients of the message.
func (p parsedMessage) envelopeRecipients() []address.Address {
	all := make([]address.Address, 0, len(p.to)+len(p.cc)+len(p.bcc))
	return append(append(append(all, p.to...), p.cc...), p.bcc...)
}

// MaySend returns nil if the caller may send from the address, or else an error of kind Forbidden. Send also
// checks the recipients.
func (s *Service) MaySend(ctx context.Context, caller accounts.Caller, from address.Address) error {
	identity, err := s.domains.Identity(ctx, caller.AccountID, from)
	if err != nil {
		return err
	}
	account, err := s.accounts.Account(ctx, caller.AccountID)
	if err != nil {
		return err
	}
	account.Suspended = account.Suspended || caller.Suspended
	return policy.Input{Caller: caller, Account: account, Identity: identity}.Check()
}
