package sending

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// heavyLoad bounds how many deliveries of heavy messages this process holds, so
// that those which wait for memory or for a slow network leave most runners to
// everybody else's mail.
type heavyLoad struct {
	most int

	mutex sync.Mutex
	held  int // claimed and not ended
}

func (l *heavyLoad) room() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return max(0, l.most-l.held)
}

// begin counts what was claimed, finish what was run or handed back.
func (l *heavyLoad) begin(jobs []delivery)   { l.add(1, jobs) }
func (l *heavyLoad) finish(jobs ...delivery) { l.add(-1, jobs) }
func (l *heavyLoad) add(n int, jobs []delivery) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, j := range jobs {
		if j.heavy() {
			l.held += n
		}
	}
}

func (d delivery) heavy() bool { return d.message != nil && d.message.heavy() }

// putOffFor is short: a heavy message that found no room is looked at again soon.
const putOffFor = time.Second

const putOffSQL = `
WITH back AS (
	UPDATE recipients r SET due_at = now() + $3 * interval '1 microsecond', attempts = r.attempts - 1
	FROM unnest($1::bigint[], $2::bigint[]) AS v (id, fence)
	WHERE r.id = v.id AND r.fence = v.fence
	RETURNING r.id, r.fence
)
DELETE FROM attempts a USING back WHERE a.recipient_id = back.id AND a.fence = back.fence`

// putOff hands back the heavy deliveries of a claim for which there is no room,
// in the transaction of the claim, and gives the others.
func (s *Service) putOff(ctx context.Context, tx *sql.Tx, jobs []delivery) ([]delivery, error) {
	room := s.load.room()
	kept, off := make([]delivery, 0, len(jobs)), []delivery(nil)
	for _, j := range jobs {
		switch {
		case !j.heavy():
			kept = append(kept, j)
		case room > 0:
			room--
			kept = append(kept, j)
		default:
			off = append(off, j)
		}
	}
	if len(off) == 0 {
		return jobs, nil
	}
	ids, fences := fencing(off)
	if _, err := tx.ExecContext(ctx, putOffSQL, ids, fences, putOffFor.Microseconds()); err != nil {
		return nil, err
	}
	return kept, nil
}
