package webhooks

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// A new delivery needs no separate claim: the transaction that creates it can store it as claimed by this process,
// and the first attempt begins after the commit. The row is that of any claim, so if the process
// stops, the lease ends and another process repeats the attempt. Deliveries for which the endpoint has no room, and
// those of endpoints that are slow, have a rate limit or have due deliveries, are queued and claimed as usual.
//
// A delivery that is handed over changes three rows, and a queued one five. Batches of the bus are therefore as large
// as the number of deliveries that can be handed over. A full batch lets the next one wait briefly for room
// (beginBatch), and a fan-out that meets a claim waits for it (claimLock).

// commitWithin is how long the transaction may take. The worker counts the lease from the commit, with a margin that
// is longer than this.
const commitWithin = time.Second

// handOverMost is the maximum number of deliveries that one statement claims, and of events in a batch. The worker has
// room for more.
const handOverMost = 100

// roomLimit is how long the fan-out waits for room.
const roomLimit = 20 * time.Millisecond

// handover holds the deliveries that the current transaction of the bus has claimed. Except for open, only the
// goroutines of the bus use it, one at a time.
type handover struct {
	open    atomic.Bool // the worker runs
	jobs    []delivery
	claimed time.Time // before the first statement that claimed one of them
	burst   bool      // the latest batch was a full one
}

// fanOutFreshSQL is fanOutSQL with claims. It returns the deliveries with the id of their claim, which is 0 for those
// that are queued. The transaction may have begun long before, so the lease counts from the statement.
var fanOutFreshSQL = db.Compile(`
WITH endpoints AS MATERIALIZED (
	SELECT w.id, w.account_id, w.enabled, w.enabled_at, w.events, w.filter, w.url, w.secret, w.headers, CASE WHEN w.previous_secret_until > now() THEN w.previous_secret END AS previous,
		CASE WHEN w.rate_limit IS NULL AND NOT coalesce(k.doubtful, false) AND (@until::timestamptz IS NULL OR statement_timestamp() < @until)
			AND NOT EXISTS (SELECT FROM webhook_works q WHERE q.webhook_id = w.id AND q.due_at <= statement_timestamp()) THEN coalesce(k.room, @room) ELSE 0 END AS room
	FROM webhooks w LEFT JOIN ` + roomRows.Source() + ` ON k.id = w.id
	WHERE w.enabled AND w.account_id = ANY(@accounts::text[])
), pairs AS MATERIALIZED (
	SELECT ` + idOf("e.id", "w.id") + ` AS id, e.id AS event_id, e.account_id, e.type, e.at::timestamptz AS at, w.id AS webhook_id, w.url, w.secret, w.previous, w.headers,
		row_number() OVER (PARTITION BY w.id ORDER BY e.id) <= w.room AS fits
	FROM ` + queuedEventRows.Source() + ` JOIN endpoints w ON ` + subscribedSQL + `
), picked AS (
	SELECT id FROM pairs WHERE fits ORDER BY event_id, webhook_id LIMIT @most
), made AS (
	INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, state, due_at, attempts, replays, error, created_at)
	SELECT id, account_id, webhook_id, event_id, type, at, 'pending', statement_timestamp(), 0, 0, '', statement_timestamp() FROM pairs ORDER BY event_id, webhook_id
	ON CONFLICT DO NOTHING
	RETURNING id
), waits AS (
	SELECT p.id, p.event_id, p.webhook_id, p.url, p.secret, p.previous, p.headers, p.id IN (SELECT id FROM picked) AS claimed FROM made m JOIN pairs p ON p.id = m.id
), work AS (
	INSERT INTO webhook_works (id, webhook_id, due_at, fence, attempts, round) SELECT id, webhook_id, statement_timestamp(), 0, 0, 0 FROM waits WHERE NOT claimed
), together AS (
	INSERT INTO webhook_claims (due_at, started_at, node, delivery_ids)
	SELECT statement_timestamp() + @lease * interval '1 microsecond', statement_timestamp(), NULLIF(@node::int, 0), array_agg(id ORDER BY id)
	FROM waits WHERE claimed HAVING count(*) > 0
	RETURNING id, started_at
)
SELECT p.id, p.event_id, p.webhook_id, coalesce(c.id, 0), coalesce(c.started_at, now()), CASE WHEN p.claimed THEN p.url ELSE '' END,
	CASE WHEN p.claimed THEN p.secret END, CASE WHEN p.claimed THEN p.previous END, CASE WHEN p.claimed THEN p.headers END
FROM waits p LEFT JOIN together c ON p.claimed`)

// fanOutFresh creates the deliveries of new facts and claims those that this process can begin after the commit. It
// returns the number of the others.
func (s *Service) fanOutFresh(ctx context.Context, tx db.Execer, events []queuedEvent) (waiting int, err error) {
	if len(events) == 0 {
		return 0, nil
	}
	s.handed.burst = s.handed.burst || len(events) >= handOverMost
	if !s.handed.open.Load() || !s.taking.lockWithin(takingLimit) {
		made, err := fanOut(ctx, tx, fanOutSQL, events)
		return len(made), err
	}
	defer s.taking.unlock()
	began := time.Now()
	l := s.flights.freshLimits(began)
	facts, accounts := make(map[string]event.Fact, len(events)), []string(nil)
	for _, e := range events {
		facts[e.fact.ID] = e.fact
		if !slices.Contains(accounts, e.fact.AccountID) {
			accounts = append(accounts, e.fact.AccountID)
		}
	}
	made, err := db.All(ctx, tx, func(d *claimedRow) []any {
		return []any{&d.id, &d.eventID, &d.webhookID, &d.claimID, &d.claimedAt, &d.url, &d.secret, &d.previous, &d.headers}
	}, fanOutFreshSQL.Text, fanOutFreshSQL.Args(queuedEventRows.Rows(events), roomRows.Rows(l.rooms),
		db.Arg("room", l.room), db.Arg("most", max(0, min(l.most, handOverMost))), db.Arg("until", s.claimsUntil()), db.Arg("accounts", db.Array(accounts)),
		db.Arg("lease", lease.Microseconds()), db.Arg("node", s.node.ID()))...)
	if err != nil {
		return 0, fmt.Errorf("queue webhook deliveries: %w", err)
	}
	claimed := made[:0]
	for _, d := range made {
		if d.claimID != 0 {
			claimed = append(claimed, d)
		}
	}
	waiting = len(made) - len(claimed)
	jobs := jobsOf(claimed)
	for i := range jobs {
		d, f := &jobs[i], facts[jobs[i].eventID]
		d.accountID, d.eventType, d.eventAt, d.data = f.AccountID, f.Type, f.CreatedAt, f.Data
		d.fence, d.attempt, d.round = 1, 1, 1
	}
	s.flights.begin(l, jobs, began)
	if len(s.handed.jobs) == 0 {
		s.handed.claimed = began
	}
	s.handed.jobs = append(s.handed.jobs, jobs...)
	return waiting, nil
}

// beginHandedOver starts the claimed deliveries after the commit. Those for which the worker has no place are released.
func (s *Service) beginHandedOver() {
	jobs := s.handed.jobs
	if s.handed.jobs = nil; len(jobs) == 0 {
		return
	}
	var places *worker.Reservation[delivery, answer]
	if time.Since(s.handed.claimed) <= commitWithin {
		places = s.worker.Reserve(len(jobs))
	}
	begin := places.Places()
	s.releaseHandedOver(jobs[begin:])
	places.Begin(jobs[:begin])
}

// releaseHandedOver makes deliveries due again for which the worker has no place.
func (s *Service) releaseHandedOver(jobs []delivery) {
	if len(jobs) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), commitWithin)
	defer cancel()
	if err := s.releaseClaims(ctx, jobs); err != nil {
		s.dropJobs(jobs)
		s.log.WarnContext(ctx, "cannot release new webhook deliveries; they are due when their leases end",
			telemetry.KeyCount, len(jobs), telemetry.KeyError, err)
		return
	}
	s.queued.Store(true)
}

// beginBatch prepares the next batch of the bus. During a burst, it waits briefly until most POSTs have ended, because
// a delivery that is handed over costs less than one that is queued. A full queue in memory therefore slows down the
// fan-out. The limit keeps slow endpoints from delaying the others.
func (s *Service) beginBatch() {
	s.dropHandedOver()
	if s.handed.burst {
		s.handed.burst = false
		s.flights.awaitRoom(roomLimit)
	}
}

// dropHandedOver forgets the deliveries of a transaction that was not committed.
func (s *Service) dropHandedOver() {
	s.dropJobs(s.handed.jobs)
	s.handed.jobs = nil
	s.queued.Store(false)
}

func (s *Service) dropJobs(jobs []delivery) {
	for _, d := range jobs {
		s.flights.end(d, nil)
	}
}
