package compose

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
)

// A heavy message is composed when its delivery begins and deleted when it ends. It is composed in a spool file
// and sent from there. The memory for composing is released before the message is sent, so a slow receiver
// holds no memory.
const heavyFrom = 1 << 20 // stored size in bytes

// IsHeavy reports whether the email is composed in a file. A process limits how many of these it delivers
// concurrently.
func (o *StoredEmail) IsHeavy() bool { return o.Size >= heavyFrom }

// composedSize is an upper bound of the size of the composed message: base64 turns 57 bytes into 78, and the
// encoding of a text at most triples it.
func (o *StoredEmail) composedSize() int64 {
	size := int64(o.Size)
	return size*78/57 + 2*min(size, mostTexts) + 256<<10
}

// composeMemory returns the memory needed for composing: several copies of the texts, and one attachment at a
// time.
func (o *StoredEmail) composeMemory() int64 { return min(4*int64(o.Size), 64<<20) }

const mostTexts = 2*records.MaxBody + 1<<20

// composePatience is how long a delivery waits for room in the budget. It holds its lease in the meantime, and
// is retried later if the wait times out.
const composePatience = 10 * time.Minute

// contents are the buffers of a heavy message.
type contents []*intake.Content

func (c *contents) close() {
	for _, held := range *c {
		held.Close()
	}
	*c = nil
}

// signHeavy is composeAndSign for a heavy message.
func (c *Composer) signHeavy(ctx context.Context, o *StoredEmail) (msg SignedMessage, err error) {
	defer func() {
		if err != nil {
			o.held.close()
		}
	}()
	owner := intake.Tenant{Account: o.accountID}
	// Always acquire disk before memory, so that two senders cannot deadlock.
	out, err := c.roomFor(ctx, o, o.composedSize())
	if err != nil {
		return SignedMessage{}, err
	}
	if o.relayed && !o.loaded {
		in, err := c.loadMIME(ctx, o, composePatience)
		if err != nil {
			return SignedMessage{}, err
		}
		defer func() { o.mime = nil; in.Close() }()
	}
	release, err := c.budget.AcquireWork(ctx, owner, o.composeMemory(), composePatience)
	if err != nil {
		return SignedMessage{}, lackOfRoom(ctx, o, err)
	}
	defer release()
	err = intake.RecoverDiskFault(func() error {
		msg, err = c.composeAndSign(ctx, o, func(size int) ([]byte, error) { return out.Extend(ctx, int64(size)) })
		return err
	})
	out.Finish()
	out.EvictPages() // the file is read again at the receiver's pace
	switch {
	case errors.Is(err, intake.ErrFull), errors.Is(err, intake.ErrCut):
		return SignedMessage{}, lackOfRoom(ctx, o, err)
	case err == nil && msg.SevenBit != nil:
		msg.SevenBit = c.heavySevenBit(ctx, o, msg.SevenBit)
	}
	return msg, err
}

// roomFor returns a content that has room for a message of the given size in bytes.
func (c *Composer) roomFor(ctx context.Context, o *StoredEmail, octets int64) (*intake.Content, error) {
	content := c.budget.NewContent(intake.Terms{Tenant: intake.Tenant{Account: o.accountID}, MaxSize: octets,
		Patience: composePatience})
	o.held = append(o.held, content)
	if err := content.Reserve(ctx, octets); err != nil {
		return nil, lackOfRoom(ctx, o, err)
	}
	return content, nil
}

// lackOfRoom returns a temporary error, so that the message is retried.
func lackOfRoom(ctx context.Context, o *StoredEmail, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("wait for memory to compose email %s: %w", o.id, context.Cause(ctx))
	}
	return fault.DatabaseUnavailable(fmt.Errorf("wait for room to compose email %s: %w", o.id, err))
}

// heavySevenBit composes the 7-bit form of a heavy message in another file, at most once.
func (c *Composer) heavySevenBit(ctx context.Context, o *StoredEmail,
	compose func() ([]byte, error)) func() ([]byte, error) {
	var done []byte
	return func() ([]byte, error) {
		o.mutex.Lock()
		defer o.mutex.Unlock()
		if done != nil {
			return done, nil
		}
		content, err := c.roomFor(ctx, o, 3*int64(o.Size)+1<<20)
		if err != nil {
			return nil, err
		}
		release, err := c.budget.AcquireWork(ctx, intake.Tenant{Account: o.accountID}, 4*int64(o.Size), composePatience)
		if err != nil {
			return nil, lackOfRoom(ctx, o, err)
		}
		defer release()
		raw, err := compose()
		if err != nil {
			return nil, err
		}
		if err := content.Append(ctx, raw); err != nil {
			return nil, lackOfRoom(ctx, o, err)
		}
		content.Finish()
		done, err = content.Bytes()
		return done, err
	}
}

// releaseBuffers releases the buffers of a heavy message after its last use.
func (o *StoredEmail) releaseBuffers() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.users--; o.users == 0 {
		o.signed = SignedMessage{}
		o.held.close()
	}
}
