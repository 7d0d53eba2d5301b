package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/intake"
)

// A heavy message is composed when its delivery begins and forgotten when it ends. It is
// composed in a file of the spool and sent from there, so that a receiver that is slow
// holds no memory; the memory that composing takes is given back before it is sent. There
// may be as many of them waiting as somebody likes.
const heavyFrom = 1 << 20 // octets as stored

func (o *outgoing) heavy() bool { return o.size >= heavyFrom }

// composedSize is more than the octets of the composed message: base64 makes 78 of 57, and
// a text three of one at worst.
func (o *outgoing) composedSize() int64 {
	size := int64(o.size)
	return size*78/57 + 2*min(size, mostTexts) + 256<<10
}

// composeMemory is what composing takes: the texts several times, and a file at a time.
func (o *outgoing) composeMemory() int64 { return min(4*int64(o.size), 64<<20) }

const mostTexts = 2*records.MaxBody + 1<<20

// composePatience is how long a delivery waits for room that others have. It holds its
// lease meanwhile, and begins anew later when that is over.
const composePatience = 10 * time.Minute

// contents are what something heavy lies in.
type contents []*intake.Content

func (c *contents) close() {
	for _, held := range *c {
		held.Close()
	}
	*c = nil
}

// signHeavy is composeAndSign for a heavy message.
func (c *composer) signHeavy(ctx context.Context, o *outgoing) (msg signedMessage, err error) {
	defer func() {
		if err != nil {
			o.held.close()
		}
	}()
	owner := intake.Owner{Account: o.accountID}
	// Files first and memory then, everywhere: so nobody waits for who waits for him.
	out, err := c.roomFor(ctx, o, o.composedSize())
	if err != nil {
		return signedMessage{}, err
	}
	if o.relayed && !o.loaded {
		in, err := c.loadMIME(ctx, o)
		if err != nil {
			return signedMessage{}, err
		}
		defer func() { o.mime = nil; in.Close() }()
	}
	release, err := c.budget.Work(ctx, owner, o.composeMemory(), composePatience)
	if err != nil {
		return signedMessage{}, lackOfRoom(ctx, o, err)
	}
	defer release()
	err = intake.Guarded(func() error {
		msg, err = c.composeAndSign(ctx, o, func(size int) ([]byte, error) { return out.Blank(ctx, int64(size)) })
		return err
	})
	out.Whole()
	out.Rest() // it is read again as the server takes it
	switch {
	case errors.Is(err, intake.ErrFull), errors.Is(err, intake.ErrCut):
		return signedMessage{}, lackOfRoom(ctx, o, err)
	case err == nil && msg.sevenBit != nil:
		msg.sevenBit = c.heavySevenBit(ctx, o, msg.sevenBit)
	}
	return msg, err
}

// roomFor is a content of the message with room for so many octets.
func (c *composer) roomFor(ctx context.Context, o *outgoing, octets int64) (*intake.Content, error) {
	content := c.budget.Content(intake.Terms{Owner: intake.Owner{Account: o.accountID}, Most: octets, Patience: composePatience})
	o.held = append(o.held, content)
	if err := content.Reserve(ctx, octets); err != nil {
		return nil, lackOfRoom(ctx, o, err)
	}
	return content, nil
}

// lackOfRoom is temporary: the message is tried again.
func lackOfRoom(ctx context.Context, o *outgoing, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("wait for room to compose email %s: %w", o.id, context.Cause(ctx))
	}
	return fault.Unavailable(fmt.Errorf("room to compose email %s: %w", o.id, err))
}

// heavySevenBit makes the other form of a heavy message in a file as well, once.
func (c *composer) heavySevenBit(ctx context.Context, o *outgoing, compose func() ([]byte, error)) func() ([]byte, error) {
	var done []byte
	return func() ([]byte, error) {
		o.mutex.Lock()
		defer o.mutex.Unlock()
		if done != nil {
			return done, nil
		}
		content, err := c.roomFor(ctx, o, 3*int64(o.size)+1<<20)
		if err != nil {
			return nil, err
		}
		release, err := c.budget.Work(ctx, intake.Owner{Account: o.accountID}, 4*int64(o.size), composePatience)
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
		content.Whole()
		done, err = content.Bytes()
		return done, err
	}
}

// forget gives back what a heavy message holds, after its last use.
func (o *outgoing) forget() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.users--; o.users == 0 {
		o.signed = signedMessage{}
		o.held.close()
	}
}

// heavyLoad bounds how many deliveries of heavy messages this process holds, so
// that those which wait for room or for a slow network leave most runners to
// everybody else's mail. An account has a quarter of them, so that its slow receivers do
// not keep the others' heavy messages from being sent.
type heavyLoad struct {
	most int

	mutex sync.Mutex
	held  int // claimed and not ended
	by    map[string]int
}

// begin counts what was claimed, finish what was run or handed back.
func (l *heavyLoad) begin(jobs []Job)   { l.add(1, jobs) }
func (l *heavyLoad) finish(jobs ...Job) { l.add(-1, jobs) }
func (l *heavyLoad) add(n int, jobs []Job) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, j := range jobs {
		if !j.heavy() {
			continue
		}
		l.held += n
		if l.by == nil {
			l.by = map[string]int{}
		}
		if l.by[j.accountID] += n; l.by[j.accountID] == 0 {
			delete(l.by, j.accountID)
		}
	}
}

// choose tells those of the deliveries that there is room for from the others.
func (l *heavyLoad) choose(jobs []Job) (kept, off []Job) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	held, by := l.held, map[string]int{}
	for _, j := range jobs {
		account := j.accountID
		switch {
		case !j.heavy():
			kept = append(kept, j)
		case held < l.most && l.by[account]+by[account] < max(1, l.most/4):
			held++
			by[account]++
			kept = append(kept, j)
		default:
			off = append(off, j)
		}
	}
	return kept, off
}

func (d Job) heavy() bool { return d.message != nil && d.message.heavy() }

// putOffFor is short: a heavy message that found no room is looked at again soon.
const putOffFor = time.Second

// putOff hands back the heavy deliveries of a claim for which there is no room,
// in the transaction of the claim, and gives the others.
func (c *claimer) putOff(ctx context.Context, tx *sql.Tx, jobs []Job) ([]Job, error) {
	kept, off := c.load.choose(jobs)
	if len(off) == 0 {
		return jobs, nil
	}
	return kept, undo(ctx, tx, off, putOffFor, nil)
}

// errFault is of a message whose file could not be read while it was sent.
var errFault = errors.New("the message could not be read from the disk")
