package replica

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// mark is a position in a write-ahead log.
type mark struct {
	at       int64
	timeline string // in hexadecimal digits, like in WAL file names
}

// positionStatement returns the statement that queries the primary's log position, using one of its
// functions.
func positionStatement(function string) string {
	return `SELECT (` + function + `() - '0/0'::pg_lsn)::bigint, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`
}

// primaryPosition returns the log position of the primary.
func (r *Replica) primaryPosition(ctx context.Context) (mark, error) {
	return db.One(ctx, r.primary.SQL, func(m *mark) []any { return []any{&m.at, &m.timeline} }, r.wanted)
}

// No function returns the timeline of the replayed log. It is at least that of the last restart point, and
// that of the files on disk; and a receiver requests a new timeline only if the log so far leads to it.
const standbySQL = `SELECT pg_is_in_recovery(), coalesce((pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint, 0),
	upper(lpad(to_hex(greatest((SELECT timeline_id FROM pg_control_checkpoint()), (SELECT min_recovery_end_timeline FROM pg_control_recovery()),
		coalesce((SELECT received_tli FROM pg_stat_wal_receiver), 0))), 8, '0'))`

// standby is what a server reports about itself.
type standby struct {
	replays bool
	mark    // the replayed position
}

// hasReplayed reports whether everything up to a position of the primary's log has been replayed.
func (s standby) hasReplayed(want mark) bool {
	return s.replays && s.timeline == want.timeline && s.at >= want.at
}

// unfitReason returns the reason why there is no point in waiting for a server.
func (s standby) unfitReason(want mark) error {
	switch {
	case !s.replays:
		return errors.New("it accepts writes: it was promoted")
	case s.timeline != want.timeline:
		return fmt.Errorf("it reports timeline %s, but the primary is on %s", s.timeline, want.timeline)
	}
	return nil
}

// awaitReplay polls a server for a moment until it has replayed the wanted position.
func awaitReplay(ctx context.Context, on db.Execer, want mark) (standby, error) {
	over := time.Now().Add(patience)
	for wait := time.Millisecond; ; wait = min(2*wait, 16*time.Millisecond) {
		s, err := db.One(ctx, on, func(s *standby) []any { return []any{&s.replays, &s.at, &s.timeline} }, standbySQL)
		if err != nil || s.hasReplayed(want) || s.unfitReason(want) != nil || time.Now().After(over) {
			return s, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return s, ctx.Err()
		}
	}
}

// Status is the state of a replica.
type Status struct {
	PassedOver string        // why it is not used; empty if it is
	Lag        time.Duration // age of the oldest primary position that it has not replayed
}

// state is the result of checks.
type state struct {
	passedOver string
	told       bool      // the state was logged
	well       time.Time // when it may be used again
	lag        time.Duration
	awaited    []sighting
}

// sighting is a position of the primary and the time at which it was read.
type sighting struct {
	mark
	seen time.Time
}

// mostAwaited limits the number of sightings for a replica that is hours behind.
const mostAwaited = 256

// Status returns the state of the replica at the latest check.
func (r *Replica) Status() Status {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return Status{r.passedOver, r.lag}
}

// CheckNow checks both servers now.
func (r *Replica) CheckNow(ctx context.Context) Status {
	r.looking.Lock()
	defer r.looking.Unlock()
	want, err := r.primaryPosition(ctx)
	if err != nil {
		return r.Status() // without the primary, the replica can be neither checked nor used
	}
	began := time.Now()
	s, err := awaitReplay(ctx, r.looks, want)
	if ctx.Err() != nil {
		return r.Status()
	}
	if err == nil {
		if err = s.unfitReason(want); err != nil {
			r.dropIdle()
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.updateMissing(sighting{want, began}, s, err == nil)
	r.recordVerdict(err, s.hasReplayed(want))
	return Status{r.passedOver, r.lag}
}

// updateMissing determines the age of the oldest position that the replica lacks.
func (s *state) updateMissing(now sighting, is standby, answered bool) {
	if len(s.awaited) > 0 && s.awaited[0].timeline != now.timeline {
		s.awaited = nil
	}
	s.awaited = append(s.awaited, now)
	for answered && len(s.awaited) > 0 && is.at >= s.awaited[0].at {
		s.awaited = s.awaited[1:]
	}
	if len(s.awaited) > mostAwaited {
		thinned := s.awaited[:0]
		for i, one := range s.awaited {
			if i%2 == 0 {
				thinned = append(thinned, one)
			}
		}
		s.awaited = thinned
	}
	if s.lag = 0; len(s.awaited) > 0 {
		s.lag = time.Since(s.awaited[0].seen)
	}
}

// recordVerdict decides whether the replica is used. prompt says that the replica had replayed everything in
// time.
func (r *Replica) recordVerdict(wrong error, prompt bool) {
	if wrong == nil && r.lag > Tolerated {
		wrong = fmt.Errorf("it is %s behind", r.lag.Round(time.Second))
	}
	switch {
	case wrong != nil:
		r.passedOver, r.well = wrong.Error(), time.Now().Add(rest)
		if !r.told {
			r.told = true
			r.log.Warn("the database replica is not used: the primary serves lists, search and statistics until it recovers", "reason", r.passedOver)
		}
	case r.passedOver != "" && !prompt:
		r.passedOver = "it has not caught up yet"
	case r.passedOver != "" && !time.Now().Before(r.well):
		r.passedOver, r.told = "", false
		r.log.Info("the database replica serves lists, search and statistics")
	}
	r.fit.Store(r.passedOver == "" && prompt)
}
