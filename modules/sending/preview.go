package sending

import (
	"context"
	"errors"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/mail/lint"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Preview validates a message and returns it as Send would store it, but stores nothing. It checks neither
// suppression nor caps. It returns Invalid with all invalid fields, or Forbidden if the policy does not allow
// the message.
func (s *Service) Preview(ctx context.Context, caller accounts.Caller, m Message) (Preview, error) {
	a, err := s.prepareMessage(ctx, caller, m, clock.Now())
	if err != nil {
		return Preview{}, err
	}
	return previewOf(a.email), nil
}

// CheckResult is the result of checking a message without sending it.
type CheckResult struct {
	Preview

	Suppressed []string       // recipients that would block the message
	Findings   []lint.Finding // problems of the content, the worst first; they do not prevent a send
}

// CheckOptions configures a check.
type CheckOptions struct {
	ResolveLinks bool // also request the links of the message
}

// errChecked rolls back the transaction of a check.
var errChecked = errors.New("the check is done")

// Check runs all checks of Send, including suppression, caps and byte quotas, inspects the content, and stores nothing.
// It returns the same errors as Send.
func (s *Service) Check(ctx context.Context, caller accounts.Caller, m Message, o CheckOptions) (CheckResult, error) {
	a, err := s.prepareMessage(ctx, caller, m, clock.Now())
	if err != nil {
		return CheckResult{}, err
	}
	if err := s.writer.checkItem(ctx, a); err != nil {
		return CheckResult{}, err
	}
	found, err := s.inspector.inspect(ctx, a, o)
	if err != nil {
		return CheckResult{}, err
	}
	return CheckResult{Preview: previewOf(a.email), Suppressed: a.suppressed, Findings: found}, nil
}

// checkItem applies the checks that need the database, and rolls back.
func (w *writer) checkItem(ctx context.Context, a *acceptance) error {
	a.reset()
	if w.storage != nil {
		bytes := a.storedBytes()
		if err := w.storage.Charge(ctx, a.email.accountID, storage.Mail, bytes); err != nil {
			return err
		}
		defer w.storage.Refund(ctx, a.email.accountID, bytes)
	}
	err := w.db.InPreparedTx(ctx, func(tx *db.PreparedTx) error {
		if err := w.judgeItems(ctx, tx, []*acceptance{a}); err != nil {
			return err
		}
		return errChecked
	})
	if !errors.Is(err, errChecked) {
		return err
	}
	return a.err
}
