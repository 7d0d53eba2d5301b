package inbound

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"time"

	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
)

const (
	// memoryMessageSize is the size up to which a message stays in memory. Most messages are smaller.
	memoryMessageSize = 64 << 10
	// receivePatience is how long a sender waits for room before it has to retry later.
	receivePatience = time.Minute
)

var replyNoRoom = smtpserver.Refuse(452, "4.3.1", "Too many large messages at once, try again later")

// readMessage reads a whole message into a content, which the caller must close.
func (r *reception) readMessage(ctx context.Context, from netip.Addr, body io.Reader) (*intake.Content, error) {
	c := r.budget.NewContent(intake.Terms{Tenant: intake.Tenant{Remote: from}, MaxMemory: memoryMessageSize,
		MaxSize: MaxMessage, Patience: receivePatience})
	err := c.Receive(ctx, intake.Upload{From: body, Limit: MaxMessage, Size: -1,
		Cut: func() { smtpserver.Cut(body, replyNoRoom) }})
	if err != nil {
		c.Close()
		return nil, replyForError(err)
	}
	return c, nil
}

// replyForError converts a lack of room to an SMTP reply.
func replyForError(err error) error {
	if errors.Is(err, intake.ErrFull) || errors.Is(err, intake.ErrCut) {
		return replyNoRoom
	}
	return err
}

// waitForMemory waits for the memory needed to parse and store a message: three times its size, for the message
// itself and the statement, plus its texts. The memory is held only during this work, not while the process
// waits for clients, DNS or the spam filter.
func waitForMemory(ctx context.Context, budget *intake.Budget, o intake.Tenant, size int64,
	patience time.Duration) (release func(), err error) {
	if size <= memoryMessageSize {
		return func() {}, nil
	}
	return budget.AcquireWork(ctx, o, 3*size+min(size, maxTextMemory), patience)
}

// maxTextMemory is the memory for the decoded texts of a message: text and HTML of 5 MB, twice.
const maxTextMemory = 20 << 20
