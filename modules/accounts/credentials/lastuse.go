package credentials

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// writeTime limits the duration of one write.
const writeTime = 5 * time.Second

// Recorder keeps the column last_used_at of one table approximately current without a write for each use. It
// collects uses and writes them together, periodically and at stop. A killed process loses its pending uses.
// last_used_at never goes back. Recorder is safe for concurrent use.
type Recorder struct {
	db     db.Execer
	table  string
	update string

	mu   sync.Mutex
	last map[string]use // id to the latest use
}

// use is a use of a credential.
type use struct {
	at   time.Time
	from netip.Addr // zero if unknown
}

// NewRecorder returns a new Recorder for a table. The table name becomes part of the SQL.
func NewRecorder(on db.Execer, table string) *Recorder { return newRecorder(on, table, "") }

// NewAddressRecorder returns a new Recorder for a table that has the column last_used_ip too.
func NewAddressRecorder(on db.Execer, table string) *Recorder {
	return newRecorder(on, table, `, last_used_ip = coalesce(nullif(used.ip, ''), c.last_used_ip)`)
}

func newRecorder(on db.Execer, table, address string) *Recorder {
	// Send ages rather than times, so that the column follows the database clock. Lock the rows in a fixed
	// order, so that two processes cannot deadlock.
	return &Recorder{db: on, table: table, update: `
WITH used AS (SELECT * FROM unnest($1::text[], $2::float8[], $3::text[]) AS u(id, age, ip)),
     held AS (SELECT c.id FROM ` + table + ` c JOIN used USING (id) ORDER BY c.id FOR NO KEY UPDATE OF c)
UPDATE ` + table + ` c SET last_used_at = greatest(c.last_used_at, now() - make_interval(secs => used.age))` + address + `
  FROM used JOIN held USING (id) WHERE c.id = used.id`}
}

// Mark records a use at the current time from an unknown address.
func (r *Recorder) Mark(id string) { r.MarkFrom(id, netip.Addr{}) }

// MarkFrom records a use at the current time. from is the address of the client, or zero if it is unknown.
func (r *Recorder) MarkFrom(id string, from netip.Addr) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[string]use{}
	}
	r.last[id] = use{now, from}
}

// Flush writes the collected uses. It is called periodically and at stop. If the write fails, it keeps them
// for the next Flush.
func (r *Recorder) Flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	taken := r.takeUses()
	if len(taken) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(taken))
	ages, ips := make([]float64, len(ids)), make([]string, len(ids))
	for i, id := range ids {
		ages[i] = time.Since(taken[id].at).Seconds()
		if from := taken[id].from; from.IsValid() {
			ips[i] = from.Unmap().WithZone("").String()
		}
	}
	if _, err := r.db.ExecContext(ctx, r.update, db.Array(ids), db.Array(ages), db.Array(ips)); err != nil {
		r.putBack(taken)
		return fmt.Errorf("write last use of %d of %s: %w", len(ids), r.table, err)
	}
	return nil
}

func (r *Recorder) takeUses() map[string]use {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.last
	r.last = nil
	return taken
}

// putBack restores uses that could not be written, unless a later use was recorded meanwhile.
func (r *Recorder) putBack(taken map[string]use) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = taken
		return
	}
	for id, u := range taken {
		if u.at.After(r.last[id].at) {
			r.last[id] = u
		}
	}
}
