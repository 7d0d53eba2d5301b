package sending

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/event"
)

// Resend is a request to send a stored email again, as a new email.
type Resend struct {
	EmailID string
	Claim   *idempotency.Claim
	Render  func(Receipt) idempotency.Response
}

// Resend sends the content of a stored email to the same recipients, whatever its outcome was. It omits
// attachments and expires_at, and all rules of a send apply. It returns NotFound, Conflict if the body has been
// deleted, Unavailable if the body is in the object store and cannot be read, and the errors of Send.
func (s *Service) Resend(ctx context.Context, caller accounts.Caller, r Resend) (Receipt, error) {
	stored, err := s.records.Get(ctx, caller.AccountID, r.EmailID)
	if err != nil {
		return Receipt{}, err
	}
	if stored.BodyPurgedAt != nil && stored.LastEvent == string(event.EmailSuppressed) &&
		stored.BodyPurgedAt.Equal(stored.CreatedAt) {
		return Receipt{}, fault.Conflictf(fault.CodeConflict,
			"The body of this email was not kept, because a recipient was suppressed and the body is larger than %d kB. Send the message as a new email.", keptOfSuppressed/1024)
	}
	if stored.BodyPurgedAt != nil {
		return Receipt{}, fault.Conflictf(fault.CodeConflict,
			"The body of this email was deleted at %s and cannot be sent again", stored.BodyPurgedAt.UTC().
				Format("2006-01-02T15:04:05Z"))
	}
	if err := s.records.LoadTexts(ctx, stored); err != nil {
		return Receipt{}, err
	}
	m := messageOf(stored)
	if m.HTML == "" && m.Text == "" {
		if m, err = s.completeRelayed(ctx, stored, m); err != nil {
			return Receipt{}, err
		}
	}
	return s.Send(ctx, caller, Request{Message: m, Claim: r.Claim, Render: r.Render})
}

// completeRelayed fills in the bodies of a message that was submitted over SMTP. It is then composed like any
// other message, and attachments are omitted as always.
func (s *Service) completeRelayed(ctx context.Context, stored *ent.Email, m Message) (Message, error) {
	read, err := s.records.ReadRelayed(ctx, stored.AccountID, stored.ID)
	if err != nil {
		return m, fmt.Errorf("read relayed email: %w", err)
	}
	if read == nil || read.HTML == "" && read.Text == "" {
		return m, fault.Conflictf(fault.CodeConflict, "This email has no body to send again")
	}
	m.HTML, m.Text, m.Relayed = read.HTML, read.Text, &RelayedMessage{}
	return m, nil
}
