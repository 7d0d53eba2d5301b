package inbound

import (
	"context"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/inbound/answer"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// ReplyRequest is a request to reply to a received email or to forward it. Fields that the message omits are
// filled in; for example, the sender is the address that received the email.
type ReplyRequest struct {
	EmailID string
	Message sending.Message
	// WithoutFiles omits the files of a forwarded email.
	WithoutFiles bool
	Claim        *idempotency.Claim
	Render       func(sending.Receipt) idempotency.Response
}

// errNoSender is for APIs that offer an operation of a disabled module.
var errNoSender = fault.Conflictf(fault.CodeConflict, "Sending is disabled on this installation")

// Reply replies to a received email in its thread, to its Reply-To address or else its From address. All rules of
// a send apply. It returns NotFound, Invalid if the email has no address to reply to, and the errors of a send.
func (s *Service) Reply(ctx context.Context, caller accounts.Caller, a ReplyRequest) (sending.Receipt, error) {
	e, err := s.Get(ctx, caller.AccountID, a.EmailID)
	if err != nil {
		return sending.Receipt{}, err
	}
	m := a.Message
	if m.From.IsZero() {
		m.From = sending.Mailbox{Text: e.RcptTo}
	}
	if len(m.To) == 0 {
		if m.To = answer.ReplyRecipients(e); len(m.To) == 0 {
			return sending.Receipt{}, fault.InvalidField("to",
				"is required, because the email has no address to reply to")
		}
	}
	if m.Subject == "" {
		m.Subject = answer.Subject("Re", e.Subject)
	}
	if m.Headers, err = answer.WithThreadHeaders(m.Headers, e); err != nil {
		return sending.Receipt{}, err
	}
	return s.send(ctx, caller, m, a)
}

func (s *Service) send(ctx context.Context, caller accounts.Caller, m sending.Message,
	a ReplyRequest) (sending.Receipt, error) {
	if s.sender == nil {
		return sending.Receipt{}, errNoSender
	}
	return s.sender.Send(ctx, caller, sending.Request{Message: m, Claim: a.Claim, Render: a.Render})
}
