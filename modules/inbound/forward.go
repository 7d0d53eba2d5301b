package inbound

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/inbound/answer"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/base/intake"
)

// Forward forwards a received email: its text and HTML follow those of the caller, and its files are attached.
// All rules of a send apply. It returns NotFound, Conflict if the content has been deleted, Unavailable as Open
// does, and the errors of a send.
func (s *Service) Forward(ctx context.Context, caller accounts.Caller, a ReplyRequest) (sending.Receipt, error) {
	e, err := s.Get(ctx, caller.AccountID, a.EmailID)
	if err != nil {
		return sending.Receipt{}, err
	}
	content, err := s.Open(ctx, e)
	if err != nil {
		return sending.Receipt{}, err
	}
	defer content.Close()
	files := s.contents.budget.NewContent(intake.Terms{Tenant: intake.Tenant{Account: e.AccountID},
		MaxMemory: smallContent, MaxSize: e.Size, Patience: readPatience})
	defer files.Close()
	if err := files.Reserve(ctx, e.Size); err != nil { // decoded files are smaller
		return sending.Receipt{}, unavailableIfFull(ctx, err)
	}
	release, err := waitForMemory(ctx, s.contents.budget, intake.Tenant{Account: e.AccountID}, e.Size, readPatience)
	if err != nil {
		return sending.Receipt{}, unavailableIfFull(ctx, err)
	}
	defer release()
	read, err := content.Message()
	if err != nil {
		return sending.Receipt{}, fmt.Errorf("forward: %w", err)
	}
	m := a.Message
	if m.From.IsZero() {
		m.From = sending.Mailbox{Text: e.RcptTo}
	}
	if m.Subject == "" {
		m.Subject = answer.Subject("Fwd", e.Subject)
	}
	m.Text, m.HTML = answer.Bodies(m.Text, m.HTML, e, read)
	if !a.WithoutFiles {
		found, err := answer.Files(ctx, content, read, files)
		if err != nil {
			return sending.Receipt{}, unavailableIfFull(ctx, err)
		}
		m.Attachments = append(append([]sending.Attachment{}, m.Attachments...), found...)
	}
	return s.send(ctx, caller, m, a)
}
