package delivery

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

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

func (d Job) heavy() bool { return d.message != nil && d.message.Heavy() }

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
