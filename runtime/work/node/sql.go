package node

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
)

// registerSQL creates the row. If others are silent, the database may have been unavailable. In that case
// nothing is claimed for a while, unless the beats of some process show that the database was available. If
// others have returned but claim nothing yet, the process waits as long as they do, which is at most a pause.
// The last column reports whether a live process has the same name.
const registerSQL = `
WITH others AS (
	SELECT coalesce(bool_or(name <> $1::text AND seen_at <= now() - $4 * interval '1 microsecond'), false) AS silent,
		coalesce(bool_or(claims_from <= now() AND seen_at > now() - $4 * interval '1 microsecond'), false) AS steady,
		max(claims_from) FILTER (WHERE seen_at > now() - $4 * interval '1 microsecond') AS until,
		coalesce(bool_or(name = $1::text AND NOT pg_try_advisory_xact_lock_shared(lock)), false) AS twin
	FROM nodes WHERE seen_at > now() - $6 * interval '1 microsecond'
), made AS (
	INSERT INTO nodes (started_at, name, version, schema, roles, egress, cell, seen_at, claims_from)
	SELECT at, $1::text, $2::text, $8::text, $3::jsonb, $7::text, $9::integer, at, CASE WHEN steady THEN at WHEN silent THEN at + $5 * interval '1 microsecond' ELSE least(greatest(at, until), at + $5 * interval '1 microsecond') END
	FROM others, clock_timestamp() AS at
	RETURNING id
)
SELECT made.id, others.twin FROM made, others`

func (n *Node) registerNode(ctx context.Context) error {
	if _, err := n.RepairTimes(ctx, clockstep.Step{}); err != nil {
		return err
	}
	var id int32
	var twin bool
	err := n.db.Hot.QueryRowContext(ctx, registerSQL, n.name, n.version, n.roles, n.times.silent.Microseconds(),
		n.times.pause.Microseconds(), n.times.forget.Microseconds(), n.egress, db.Schema(), n.cell).
		Scan(&id, &twin)
	if err != nil {
		return fmt.Errorf("register node: %w", err)
	}
	n.mu.Lock()
	n.id = id
	news := n.recordTwin(twin)
	n.mu.Unlock()
	n.own.resetStored()
	n.log.InfoContext(ctx, "node registered", "node", n.name, "id", id)
	if news {
		n.warnOfTwin(ctx)
	}
	return nil
}

// beatSQL updates the row, and returns which nodes are dead. It detects a silence that ends with this beat,
// by the database clock. The count uses more than its memory allows, so that it needs a file: on a full
// disk the beat fails, as does every write that needs a new page.
//
// A silence is followed by a pause for the sake of processes that were alive shortly before it, or are now.
// A process that was alone waits for its own results only, from beat to beat.
//
// No wait is longer than a pause: a later time was stored while the clock was ahead.
//
// A beat that was stuck in a frozen server has no effect when the server resumes, because @good_until has
// passed. After an outage, when @end is not null, the wait is that of the slowest live process. The third
// column reports whether a process that beat shortly before @start is absent, the fourth whether the
// process is alone. The addresses are written when they change; the last two columns are the other
// processes, and whether a live one has the same name.
var beatSQL = db.Compile(`
WITH little AS MATERIALIZED (
	SELECT set_config('work_mem', '64kB', true) AS memory
), clock AS MATERIALIZED (
	SELECT clock_timestamp() AS at, coalesce(clock_timestamp() > @good_until::timestamptz, false) AS late
), company AS MATERIALIZED (
	SELECT EXISTS (SELECT FROM nodes own, nodes o WHERE own.id = @id AND o.id <> @id AND o.seen_at > own.seen_at - @gone * interval '1 microsecond') AS present
), beat AS (
	UPDATE nodes SET seen_at = CASE WHEN late THEN seen_at ELSE at END, lock = CASE WHEN late THEN lock ELSE @lock END,
		addresses = coalesce(@addresses::jsonb, addresses), clock_ahead_ms = @ahead::bigint,
		claims_from = CASE WHEN late THEN claims_from ELSE least(at + @pause * interval '1 microsecond', CASE
			WHEN present AND at - seen_at > @silent * interval '1 microsecond' THEN at + @pause * interval '1 microsecond'
			WHEN @doubtful::boolean THEN greatest(claims_from, at + CASE WHEN present THEN @settles::float8 ELSE @again::float8 END * interval '1 microsecond')
			ELSE claims_from END) END
	FROM clock, company WHERE id = @id RETURNING name, started_at, claims_from, at, late, present
), others AS (
	SELECT o.*, EXISTS (SELECT FROM nodes later WHERE later.name = o.name AND later.started_at > o.started_at) AS replaced
	FROM nodes o WHERE o.id <> @id AND @end::timestamptz IS NOT NULL
)
SELECT b.at, b.late,
	EXISTS (SELECT FROM others o WHERE NOT o.replaced AND o.seen_at < @end
		AND o.seen_at >= coalesce(@start::timestamptz, (SELECT max(seen_at) FROM others WHERE seen_at < @end)) - @gone * interval '1 microsecond'),
	NOT b.present,
	least(greatest(extract(epoch FROM greatest(b.claims_from, (SELECT max(o.claims_from) FROM others o WHERE o.seen_at >= @end)) - b.at) * 1000000, 0), @pause)::bigint,
	(SELECT count(filler) FROM little, LATERAL unnest(array_fill(repeat('x', CASE WHEN memory = '64kB' THEN 1000 END), ARRAY[150])) filler),
	ARRAY(SELECT n.id FROM nodes n WHERE n.id <> @id AND (n.seen_at < b.at - @gone * interval '1 microsecond' OR n.name = b.name AND n.started_at < b.started_at)
		AND (n.lock IS NULL OR pg_try_advisory_xact_lock_shared(n.lock))),
	` + processesSQL("b.at", "@id", "@gone", "@forget") + `,
	EXISTS (SELECT FROM nodes n WHERE n.id <> @id AND n.name = b.name AND n.seen_at > greatest(b.started_at, b.at - @gone * interval '1 microsecond'))
FROM beat b`)

// errRowGone means that the row was deleted, either with all others or because the process was silent.
var errRowGone = errors.New("the row of this node is gone")

// errLate means that the database processed a beat too late to count.
var errLate = errors.New("the database responded too late")

// writeBeat sends one beat. It returns the dead nodes.
func (n *Node) writeBeat(ctx context.Context) (gone []int64, err error) {
	gone, err = n.writeRow(ctx)
	if !errors.Is(err, errRowGone) {
		return gone, err
	}
	if err := n.registerNode(ctx); err != nil {
		return nil, err
	}
	return n.writeRow(ctx)
}

func (n *Node) writeRow(ctx context.Context) (gone []int64, err error) {
	h := beatResult{sent: time.Now()}
	key, held := n.signals.Lock()
	var lock *int64
	if held {
		lock, h.lock = &key, key
	}
	q := n.newOutageQuery(h.sent)
	n.own.refreshAddresses(n.times.look)
	news := n.own.changedList()
	var late bool
	// An error of the commit arrives after the row.
	gone, err = db.One(ctx, n.db.Prepared, func(gone *[]int64) []any {
		return []any{&h.seen, &late, &h.absent, &h.alone, db.ScanMicroseconds(&h.wait), new(int64), db.ScanArray(gone),
			db.ScanJSON(&h.others), &h.twin}
	}, beatSQL.Text, beatSQL.Args(db.Arg("good_until", q.goodUntil), db.Arg("lock", lock),
		db.Arg("silent", n.times.silent.Microseconds()), db.Arg("pause", n.times.pause.Microseconds()),
		db.Arg("doubtful", n.holdsDoubtfulJobs(h.sent)), db.Arg("settles", (settles*n.times.again).Microseconds()),
		db.Arg("again", n.times.again.Microseconds()), db.Arg("id", n.ID()), db.Arg("end", q.end),
		db.Arg("start", q.start),
		db.Arg("gone", n.times.gone.Microseconds()), db.Arg("forget", n.times.forget.Microseconds()),
		db.Arg("addresses", news), db.Arg("ahead", n.clockAhead()))...)
	h.answered = time.Now()
	if errors.Is(err, sql.ErrNoRows) {
		err = errRowGone
	}
	if err == nil && late {
		n.learnClock(h)
		err = errLate
	}
	if err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	n.own.recordStored(news)
	n.recordBeat(h)
	n.db.ShareWith(1 + countAlive(h.others))
	n.logChanges(ctx, h)
	n.observe(h.sent, h.answered, h.seen)
	return gone, nil
}

// repairTimesSQL corrects rows that were written while the clock was ahead: processes that died then would
// seem alive, and prevent others from claiming.
const repairTimesSQL = `
UPDATE nodes n SET seen_at = least(n.seen_at, at), started_at = least(n.started_at, at), claims_from = least(n.claims_from, at + $1 * interval '1 microsecond')
FROM clock_timestamp() AS at WHERE n.id IN (
	SELECT id FROM nodes WHERE seen_at > clock_timestamp() + $2 * interval '1 microsecond' ORDER BY id FOR UPDATE SKIP LOCKED)`

// RepairTimes corrects the rows of processes after the database clock stepped back
// (runtime/storage/clockstep).
func (n *Node) RepairTimes(ctx context.Context, _ clockstep.Step) (int64, error) {
	rows, err := db.Exec(ctx, n.db.Hot, repairTimesSQL, n.times.pause.Microseconds(), clockMatters.Microseconds())
	if err != nil {
		return 0, fmt.Errorf("repair times of nodes: %w", err)
	}
	return int64(rows), nil
}

const (
	leaveSQL = `DELETE FROM nodes WHERE id = $1`
	// sweepSQL deletes old rows, but keeps the latest for a day: lists of faults name the process (modules/sending/queue).
	sweepSQL = `
DELETE FROM nodes WHERE seen_at < now() - $1 * interval '1 microsecond' AND (seen_at < now() - interval '25 hours'
	OR id NOT IN (SELECT id FROM nodes ORDER BY id DESC LIMIT 20))`
	// releaseTries is how many times the claims of a dead node are released, because one of its statements may
	// have been in transit when it died.
	releaseTries = 5
)

func (n *Node) removeRow(ctx context.Context) error {
	_, err := n.db.Hot.ExecContext(ctx, leaveSQL, n.ID())
	return err
}

// releaseDead releases the claims of dead nodes, unless nothing may be claimed now: after an outage every
// process seems dead for a moment.
func (n *Node) releaseDead(ctx context.Context, gone []int64) {
	n.mu.Lock()
	steady := time.Until(n.claimsFrom) <= 0
	n.mu.Unlock()
	if !steady {
		return
	}
	for _, id := range gone {
		n.handBack(ctx, int32(id))
	}
	if time.Since(n.swept) > n.times.forget/6 {
		n.swept = time.Now()
		if _, err := n.db.Hot.ExecContext(ctx, sweepSQL, n.times.forget.Microseconds()); err != nil &&
			ctx.Err() == nil {
			n.log.WarnContext(ctx, "node: cannot delete old rows", telemetry.KeyError, err)
		}
	}
}

func (n *Node) handBack(ctx context.Context, id int32) {
	if n.looks[id] >= releaseTries {
		return
	}
	whole := true
	for what, f := range n.queues {
		count, err := f(ctx, id)
		switch {
		case err != nil && ctx.Err() == nil:
			whole = false
			n.log.WarnContext(ctx, "node: cannot release the claims of a dead node; they end with their leases", "gone",
				id, "what",
				what, telemetry.KeyError, err)
		case count > 0:
			n.log.InfoContext(ctx, "node: released the claims of a dead node", "gone", id, "what", what,
				telemetry.KeyCount, count)
		}
	}
	if whole {
		n.looks[id]++
	}
}
