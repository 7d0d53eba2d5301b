package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/returnpath"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// deliver makes one attempt: compose, sign, SMTP. It stores nothing; its outcome is settled along with others
// in one transaction.
func (s *Service) deliver(ctx context.Context, d Job, lease *worker.Lease) smtpclient.Outcome {
	defer s.claimer.releaseHeld(d)
	ctx, end := s.startSpan(ctx, d)
	out := s.makeAttempt(ctx, d, lease)
	end(out)
	s.logger.LogAttrs(ctx, slog.LevelInfo, "delivery attempt",
		slog.String(telemetry.KeyAccountID, d.accountID), slog.String(telemetry.KeyEmailID, d.emailID),
		slog.Int64(telemetry.KeyRecipientID, d.recipientID),
		slog.Int(telemetry.KeyAttempt, d.attempt), slog.String(telemetry.KeyOutcome, string(out.Kind)),
		slog.String(telemetry.KeyPhase, string(out.Phase)),
		slog.Int("code", out.Code), slog.String("enhanced_code", out.EnhancedCode),
		slog.String(telemetry.KeyReply, out.Diagnostic()),
		slog.String("remote_host", out.RemoteHost), slog.String("remote_addr", out.RemoteAddr),
		slog.String(telemetry.KeyTLS, out.TLS), slog.String("tls_policy", string(out.TLSPolicy)))
	return out
}

// releaseHeld releases what a delivery held in memory in addition to its row.
func (c *claimer) releaseHeld(d Job) {
	c.load.releaseSlots(d)
	if d.ticket != nil {
		d.ticket.End()
	}
}

func (s *Service) makeAttempt(ctx context.Context, d Job, lease *worker.Lease) smtpclient.Outcome {
	switch {
	case d.message == nil:
		return refusedOutcome("the email was deleted before it could be sent")
	case d.message.Expires && d.message.Life <= 0:
		return smtpclient.Outcome{Kind: smtpclient.Failed, Reason: lifecycle.CodeExpired,
			Phase: smtpclient.PhaseEnvelope, Err: errors.New(lifecycle.ExpiredDiagnostic)}
	case d.untried != "":
		return smtpclient.Outcome{Kind: smtpclient.Temporary, Phase: smtpclient.PhaseWait,
			Err: fmt.Errorf("not tried: %s", d.untried)}
	case id.IsTestTenant(d.accountID) && !isCapture(d.way):
		return refusedOutcome("mail of test mode is never sent, and this process does not capture it")
	}
	msg, done, err := s.composer.Sign(ctx, d.message)
	if err != nil {
		return s.unsendableOutcome(ctx, d, err)
	}
	defer done()
	from, err := s.returnPath(d, msg.Identity)
	if err != nil {
		return s.unsendableOutcome(ctx, d, err)
	}
	envelope := smtpclient.Envelope{From: from, To: d.address, SMTPUTF8: msg.UTF8, TLSMode: msg.Identity.TLSMode,
		Way: d.way, SevenBit: msg.SevenBit}
	if !d.isHeavy() {
		return s.transport.Deliver(ctx, envelope, msg.Raw, s.beforeFinalDot(ctx, d, lease))
	}
	var out smtpclient.Outcome
	if err := intake.RecoverDiskFault(func() error {
		out = s.transport.Deliver(ctx, envelope, msg.Raw, s.beforeFinalDot(ctx, d, lease))
		return nil
	}); err != nil {
		// The part that was sent had no final dot.
		return smtpclient.Outcome{Kind: smtpclient.Temporary, Phase: smtpclient.PhaseData,
			Err: errors.Join(errFault, err)}
	}
	return out
}

// isCapture reports whether a way ends in this process. It is the last check before an attempt: whatever has chosen the
// way, no mail of test mode leaves the machine.
func isCapture(way smtpclient.Way) bool { return way.Smarthost != nil && way.Smarthost.InProcess }

// beforeFinalDot returns the check that runs right before the final dot. A worker that was paused past its
// lease must not send a message that another worker has claimed since.
func (s *Service) beforeFinalDot(ctx context.Context, d Job, lease *worker.Lease) func() error {
	return func() error {
		if d.ahead {
			if err := s.claimer.begun.recordFinalDot(ctx, d.recipientID); err != nil {
				return err
			}
		}
		if !lease.IsValid() {
			return worker.ErrLeaseOver
		}
		return nil
	}
}

// returnPath returns the envelope sender. Its host belongs to the sender's own domain, so that SPF aligns
// with From (RFC 7489 section 3.1.2), and its token identifies the recipient, so that a bounce names it. It
// carries the day of acceptance or release, so that all attempts use the same one: greylisting remembers
// senders.
func (s *Service) returnPath(d Job, i domains.SigningIdentity) (string, error) {
	mark := returnpath.Mark{EmailID: d.emailID, RecipientID: d.recipientID}
	return s.returnPaths.Address(mark, i.Domain, time.Now().Add(-d.age))
}

// unsendableOutcome distinguishes an email that can never be sent from one that cannot be sent now.
func (s *Service) unsendableOutcome(ctx context.Context, d Job, err error) smtpclient.Outcome {
	if ctx.Err() != nil {
		return smtpclient.Outcome{Kind: smtpclient.Temporary, Err: context.Cause(ctx)}
	}
	switch fault.KindOf(err) {
	case fault.Forbidden:
		return refusedOutcome(err.Error())
	case fault.Unavailable:
		return smtpclient.Outcome{Kind: smtpclient.Temporary,
			Err: errors.New("the message could not be read from the database")}
	default:
		s.logger.ErrorContext(ctx, "email cannot be composed", telemetry.KeyEmailID, d.emailID, telemetry.KeyError, err)
		return refusedOutcome("the message could not be composed")
	}
}

func refusedOutcome(text string) smtpclient.Outcome {
	return smtpclient.Outcome{Kind: smtpclient.Failed, Reason: smtpclient.ReasonPolicy, Err: errors.New(text)}
}
