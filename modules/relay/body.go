package relay

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
)

const (
	// light is the size up to which a message stays in memory; most messages are smaller.
	light = 64 << 10
	// roomWait is how long a message waits for memory used by other messages.
	roomWait = 30 * time.Second
)

// readMessage reads a whole message into a content, which the caller must close.
func (s *Service) readMessage(ctx context.Context, accountID string, body io.Reader) (*intake.Content, error) {
	c := s.budget.NewContent(intake.Terms{Tenant: intake.Tenant{Account: accountID}, MaxMemory: light,
		MaxSize: MaxMessage, Patience: roomWait})
	err := c.Receive(ctx, intake.Upload{From: body, Limit: MaxMessage, Size: -1,
		Cut: func() { smtpserver.Cut(body, replyRoom) }})
	if err != nil {
		c.Close()
		return nil, refusalFor(err)
	}
	return c, nil
}

// refusalFor converts a lack of memory into an SMTP reply.
func refusalFor(err error) error {
	if errors.Is(err, intake.ErrFull) || errors.Is(err, intake.ErrCut) {
		return replyRoom
	}
	return err
}

// reserveMemory waits for the memory required to clean and store a message: the cleaned message, two copies for the
// statement, and its texts.
func (s *Service) reserveMemory(ctx context.Context, accountID string, size int64) (release func(), err error) {
	if size <= light {
		return func() {}, nil
	}
	return s.budget.AcquireWork(ctx, intake.Tenant{Account: accountID}, 3*size+min(size, mostTexts), roomWait)
}

// mostTexts is the memory for the texts of a message: text and HTML of 5 MB each, twice.
const mostTexts = 20 << 20
