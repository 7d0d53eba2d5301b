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
	// smallMessage is the size up to which a message stays in memory. Most messages are smaller.
	smallMessage = 64 << 10
	// receivePatience is how long a sender waits for room before it must retry later.
	receivePatience = time.Minute
)

var replyNoRoom = smtpserver.Refuse(452, "4.3.1", "Too many large messages at once, try again later")

// take reads a whole message into a content, which the caller must close.
func (r *reception) take(ctx context.Context, from netip.Addr, body io.Reader) (*intake.Content, error) {
	c := r.budget.Content(intake.Terms{Owner: intake.Owner{Remote: from}, Small: smallMessage, Most: MaxMessage, Patience: receivePatience})
	err := c.Arrive(ctx, intake.Arrival{From: body, Limit: MaxMessage, Size: -1, Cut: func() { smtpserver.Cut(body, replyNoRoom) }})
	if err != nil {
		c.Close()
		return nil, refused(err)
	}
	return c, nil
}

// refused converts a lack of room to an SMTP reply.
func refused(err error) error {
	if errors.Is(err, intake.ErrFull) || errors.Is(err, intake.ErrCut) {
		return replyNoRoom
	}
	return err
}

// work waits for the memory needed to parse and store a message: three times its size, for the message itself
// and the statement, plus its texts. This memory is held only while the process works, not while it waits for
// others.
func work(ctx context.Context, budget *intake.Budget, o intake.Owner, size int64, patience time.Duration) (release func(), err error) {
	if size <= smallMessage {
		return func() {}, nil
	}
	return budget.Work(ctx, o, 3*size+min(size, mostTexts), patience)
}

// mostTexts is the memory for the decoded texts of a message: text and HTML of 5 MB, twice.
const mostTexts = 20 << 20
