package bus

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	// aheadMost is the number of due messages of a group up to which the catch-up still adds to them.
	// Messages are handled in order, so a new fact waits for at most these.
	aheadMost = 200
	// aheadLeast is how many messages may be added per leastEvery for a group that always has more than that,
	// however often it scans.
	aheadLeast = 50
	leastEvery = 5 * time.Second
	// aheadPause is how long to wait for a group to handle some of them.
	aheadPause = 50 * time.Millisecond
)

// catchUp returns the task that delivers facts after the group's mark that the group must handle but that
// have no message.
func (g *group) catchUp() worker.Task {
	unfinished := false
	return worker.Task{Name: "catch-up of " + g.name, Drain: true,
		Step: func(ctx context.Context) (wait time.Duration, err error) {
			if unfinished, err = g.scanFacts(ctx, unfinished); unfinished {
				return 0, err
			}
			every := g.options.CatchUp
			// at least this long, otherwise this process would have just scanned itself
			return every + rand.N(every/5+1), err
		}}
}

// pauseFor waits, at most until the bus stops.
func (g *group) pauseFor(length time.Duration) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-g.stopping:
	}
}

// scanFacts scans the facts from the mark to the horizon once. It reports whether its time (Options.CatchUp)
// was over before it reached the horizon. The caller then calls it again immediately, with unfinished, and the
// next scan begins at the new mark. It does nothing while another process scans, or has just scanned.
func (g *group) scanFacts(ctx context.Context, unfinished bool) (more bool, err error) {
	notWithin := g.options.CatchUp
	if unfinished {
		notWithin = 0
	}
	s, err := g.readMarkState(ctx, notWithin)
	if err != nil {
		return false, err
	}
	if g.metrics.behind.Set(s.behind.Seconds()); !s.may || s.rests {
		return false, nil
	}
	horizon, err := (&Log{g.db}).Horizon(ctx)
	if err != nil {
		return false, err
	}
	// Determine the horizon first, so that the results of Wants after this are valid for every fact before
	// it.
	if refresh := g.consumer.Refresh; refresh != nil {
		if err := refresh(ctx); err != nil {
			return false, err
		}
	}
	l := factScan{group: g, horizon: id.Since(id.Fact, horizon), notWithin: notWithin}
	defer func() {
		if l.handed > 0 {
			g.metrics.found.Add(float64(l.handed))
			g.log.Info("bus: delivered facts that had no message", telemetry.KeyCount, l.handed, "behind",
				s.behind.Round(time.Second))
		}
	}()
	for end := time.Now().Add(g.options.CatchUp); ; {
		handed := l.handed
		more, err := l.scanStretch(ctx)
		if l.handed > handed {
			g.options.Signals.Wake(Channel)
		}
		if err != nil || !more || g.isStopping() {
			return false, err
		}
		if time.Now().After(end) {
			return true, nil
		}
		if l.full {
			g.pauseFor(aheadPause)
		}
	}
}

// factScan is one pass from the mark to a horizon. It uses several transactions, because an open one would hold
// back the horizon for all processes.
type factScan struct {
	group     *group
	horizon   string // as an id
	notWithin time.Duration

	position string // position from which it continues; "" before the first step
	held     bool   // a fact before the position is not handled yet, so the mark must not move
	handed   int
	full     bool // the group has enough messages
}

// scanStretch examines one stretch. It reports whether there are more.
func (l *factScan) scanStretch(ctx context.Context) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.group.options.HandlerTimeout)
	defer cancel()
	after := *l
	err = l.group.db.InHotTx(ctx, func(tx *sql.Tx) error {
		more, err = after.scanStretchIn(ctx, tx)
		return err
	})
	if err != nil {
		return false, err
	}
	*l = after
	return more, nil
}

func (l *factScan) scanStretchIn(ctx context.Context, tx *sql.Tx) (more bool, err error) {
	g := l.group
	row, ok, err := g.lockMark(ctx, tx, l.notWithin)
	if err != nil || !ok {
		return false, err
	}
	room := aheadMost - row.queue
	switch {
	case l.position == "":
		if l.position, err = l.beginScan(ctx, tx, row); err != nil {
			return false, err
		}
		room = g.roomOf(room, time.Now())
	case l.position < row.until:
		// Another process has advanced further while this one was blocked. The records of the facts in
		// between are gone.
		l.position, l.held = row.until, false
	}
	l.notWithin = 0
	if l.full = room <= 0; l.full {
		return true, nil
	}
	s, err := g.readStretch(ctx, tx, l.position, l.horizon)
	if err != nil {
		return false, err
	}
	p := s.planDeliveries(l.horizon, room, g.consumer.Wants)
	if len(p.hand) > 0 {
		if _, err := tx.ExecContext(ctx, insertMessages, g.name, db.Array(p.hand)); err != nil {
			return false, err
		}
	}
	until := row.until
	if !l.held {
		until = p.mark
	}
	if _, err := tx.ExecContext(ctx, moveMark, g.name, until, typeNames(g.consumer)); err != nil {
		return false, err
	}
	l.position, l.held = p.next, l.held || p.mark < p.next
	l.handed += len(p.hand)
	l.full = len(p.hand) == room
	return p.more, nil
}

// roomOf returns how many facts a new scan may add, given the room left by queued messages: at least
// aheadLeast, once per leastEvery. Scans may follow each other immediately, and each could delay new facts by
// that many messages.
func (g *group) roomOf(room int, now time.Time) int {
	if room < aheadLeast && now.Sub(g.addedLeast) >= leastEvery {
		g.addedLeast = now
		return aheadLeast
	}
	return room
}

// beginScan returns the position where a scan begins: the mark. First it creates messages for requeued facts
// that have none.
func (l *factScan) beginScan(ctx context.Context, tx *sql.Tx, row lockedMark) (position string, err error) {
	g := l.group
	result, err := tx.ExecContext(ctx, insertRequeued, g.name, aheadLeast)
	if err != nil {
		return "", err
	}
	requeued, err := result.RowsAffected()
	if err != nil {
		return "", err
	}
	l.handed += int(requeued)
	if row.until <= id.Since(id.Fact, row.now.Add(clockError)) {
		return row.until, nil
	}
	g.log.Warn("bus: moving back a mark that is ahead of the server's clock, which must have been wrong", "until",
		id.Time(row.until))
	_, err = tx.ExecContext(ctx, resetMark, g.name, l.horizon)
	return l.horizon, err
}

// ClockRepair makes messages due after the database clock stepped back, and runs the catch-up, which moves
// back marks that are ahead of the clock.
func (b *Bus) ClockRepair() clockstep.Repair {
	retry := b.options.Retry.Max
	return clockstep.Repair{What: "messages of the bus", Columns: []clockstep.TimeColumn{
		{Table: "bus_messages", Name: "due_at", Key: `consumer, "offset"`, Where: "failures = 0"},
		{Table: "bus_messages", Name: "due_at", Key: `consumer, "offset"`, Where: "failures > 0", Limit: retry, Reset: retry},
		{Table: "bus_marks", Name: "looked_at", Key: "consumer"},
	}}
}
