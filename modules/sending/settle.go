package sending

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/worker"
)

// finished is a delivery with its result.
type finished struct {
	delivery delivery
	out      smtpclient.Outcome
	verdict  verdict
}

// settle stores the outcomes of a batch of attempts in one statement and, for what
// that cannot do, one transaction: the attempt rows always, everything else only where
// the claim's fence still holds. It can be repeated: what the first half has stored it
// finds under another fence.
func (s *Service) settle(ctx context.Context, results []worker.Result[delivery, smtpclient.Outcome]) error {
	now := time.Now()
	var batch, plain []finished
	var turnedAway []delivery
	for _, r := range results {
		if errors.Is(r.Value.Err, lane.ErrNoRoom) {
			turnedAway = append(turnedAway, r.Job)
			continue
		}
		if f := (finished{delivery: r.Job, out: r.Value, verdict: s.judge(r.Job, r.Value)}); f.plain() {
			plain = append(plain, f)
		} else {
			batch = append(batch, f)
		}
	}
	if len(plain) > 0 {
		facts, err := s.settlePlain(ctx, plain, now)
		if err != nil {
			return err
		}
		s.bus.WakeFor(facts...)
		s.begun.forget(deliveriesOf(plain)...)
	}
	if len(batch) == 0 && len(turnedAway) == 0 {
		return nil
	}
	var facts []event.Fact
	err := s.db.InHotTx(ctx, func(tx *sql.Tx) error {
		if err := parkAgain(ctx, tx, turnedAway); err != nil {
			return fmt.Errorf("park recipients: %w", err)
		}
		if len(batch) == 0 {
			return nil
		}
		held, err := updateRecipients(ctx, tx, batch)
		if err != nil {
			return fmt.Errorf("store recipient outcomes: %w", err)
		}
		changes, err := lockEmails(ctx, tx, held)
		if err != nil {
			return fmt.Errorf("lock emails: %w", err)
		}
		facts = changes.apply(held, now)
		if err := changes.store(ctx, tx); err != nil {
			return fmt.Errorf("store email states: %w", err)
		}
		if err := s.bus.Publish(ctx, tx, facts...); err != nil {
			return fmt.Errorf("publish facts: %w", err)
		}
		return nil
	})
	if err == nil {
		s.parking.add(labelsOf(turnedAway))
		s.bus.WakeFor(facts...)
		s.begun.forget(deliveriesOf(batch)...)
	}
	return err
}

func deliveriesOf(list []finished) []delivery {
	jobs := make([]delivery, len(list))
	for i, f := range list {
		jobs[i] = f.delivery
	}
	return jobs
}

// judge asks first whether another way is left.
func (s *Service) judge(d delivery, out smtpclient.Outcome) verdict {
	if d.via == "" && d.message != nil {
		if v, possible := divert(out); possible && s.ways.HasFallback(d.accountID, d.message.domainID) {
			return v
		}
	}
	return judge(d, out)
}

// parkAgain undoes the claim of deliveries that the lane turned away when it was known
// which one they belong to. No attempt was made, so none is left in the records.
func parkAgain(ctx context.Context, tx *sql.Tx, jobs []delivery) error {
	return undo(ctx, tx, jobs, 0, labelsOf(jobs))
}

func labelsOf(jobs []delivery) []string {
	labels := make([]string, len(jobs))
	for i, d := range jobs {
		labels[i] = laneLabel(d.way.Label, d.destination)
	}
	return labels
}

// The attempt's outcome is the truth whoever holds the recipient by now; the
// recipient changes only under the fence of the claim that made the attempt. The
// fence goes up, so that a batch whose commit was not heard of can be repeated.
const settleSQL = `
WITH done AS (
	SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::int[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::bool[],
		$15::text[], $16::text[], $17::text[])
		AS v (id, fence, state, wait, outcome, phase, code, enhanced_code, reply, remote_host, remote_addr, tls, tls_policy, notify, local_addr, class, via)
), tried AS (
	UPDATE attempts a SET finished_at = clock_timestamp(), outcome = v.outcome, phase = v.phase, code = NULLIF(v.code, 0),
		enhanced_code = NULLIF(v.enhanced_code, ''), reply = v.reply, remote_host = v.remote_host, remote_addr = v.remote_addr, tls = v.tls, tls_policy = v.tls_policy, local_addr = v.local_addr, class = v.class
	FROM done v WHERE a.recipient_id = v.id AND a.fence = v.fence
)
UPDATE recipients r SET state = v.state, fence = r.fence + 1, via = v.via, code = NULLIF(v.code, 0), enhanced_code = NULLIF(v.enhanced_code, ''),
	diagnostic = NULLIF(v.reply, ''), remote_mta = NULLIF(v.remote_host, ''),
	due_at = CASE WHEN v.state = 'deferred' THEN now() + v.wait * interval '1 microsecond' END,
	settled_at = CASE WHEN v.state <> 'deferred' THEN now() END,
	delay_notified_at = CASE WHEN v.notify THEN now() ELSE r.delay_notified_at END
FROM done v WHERE r.id = v.id AND r.fence = v.fence AND r.due_at IS NOT NULL
RETURNING r.id`

// updateRecipients gives the deliveries whose fence held.
func updateRecipients(ctx context.Context, tx *sql.Tx, batch []finished) ([]finished, error) {
	n := len(batch)
	ids, fences, waits, codes := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	notify := make([]bool, n)
	text := make(columns, 12)
	byID := make(map[int64]finished, n)
	for i, f := range batch {
		ids[i], fences[i] = f.delivery.recipientID, f.delivery.fence
		waits[i], codes[i] = f.verdict.wait.Microseconds(), int64(f.out.Code)
		notify[i] = f.verdict.event == event.EmailDeliveryDelayed
		text.add(string(f.verdict.state), string(f.verdict.outcome), string(f.out.Phase), f.out.EnhancedCode,
			f.out.Diagnostic(), f.out.RemoteHost, f.out.RemoteAddr, f.out.TLS, string(f.out.TLSPolicy),
			f.out.LocalAddr, string(classOf(f.out)), f.verdict.via)
		byID[f.delivery.recipientID] = f
	}
	rows, err := tx.QueryContext(ctx, settleSQL, pq.Array(ids), pq.Array(fences), pq.Array(text[0]), pq.Array(waits),
		pq.Array(text[1]), pq.Array(text[2]), pq.Array(codes), pq.Array(text[3]), pq.Array(text[4]), pq.Array(text[5]), pq.Array(text[6]), pq.Array(text[7]), pq.Array(text[8]), pq.Array(notify),
		pq.Array(text[9]), pq.Array(text[10]), pq.Array(text[11]))
	if err != nil {
		return nil, err
	}
	updated, err := scanAll(rows, func(id *int64) []any { return []any{id} })
	held := make([]finished, 0, len(updated))
	for _, id := range updated {
		held = append(held, byID[id])
	}
	return held, err
}

// emailChange is the state of one email while a batch is applied to it.
type emailChange struct {
	status       email.Status
	lastEvent    string
	bounceReason string
	counts       tally
}

type emailChanges map[string]*emailChange

const (
	lockEmailsSQL = `SELECT id, status, last_event, coalesce(bounce_reason, '') FROM emails WHERE id = ANY($1) ORDER BY id FOR UPDATE`
	tallySQL      = `SELECT email_id, state, count(*) FROM recipients WHERE email_id = ANY($1) GROUP BY 1, 2`
)

// lockEmails takes the emails' rows, in id order so that two batches never wait
// for each other, and counts their recipients as they stand now.
func lockEmails(ctx context.Context, tx *sql.Tx, held []finished) (emailChanges, error) {
	changes := emailChanges{}
	for _, f := range held {
		changes[f.delivery.emailID] = nil
	}
	ids := pq.Array(slices.Sorted(maps.Keys(changes)))
	rows, err := tx.QueryContext(ctx, lockEmailsSQL, ids)
	if err != nil {
		return nil, err
	}
	type locked struct {
		id string
		emailChange
	}
	emails, err := scanAll(rows, func(e *locked) []any { return []any{&e.id, &e.status, &e.lastEvent, &e.bounceReason} })
	if err != nil {
		return nil, err
	}
	for _, e := range emails {
		e.counts = tally{}
		changes[e.id] = &e.emailChange
	}
	rows, err = tx.QueryContext(ctx, tallySQL, ids)
	if err != nil {
		return nil, err
	}
	type count struct {
		id    string
		state recipient.State
		n     int
	}
	counts, err := scanAll(rows, func(c *count) []any { return []any{&c.id, &c.state, &c.n} })
	for _, c := range counts {
		changes[c.id].counts[c.state] = c.n
	}
	return changes, err
}

// apply carries the batch into the emails' states and gives the facts to publish.
func (c emailChanges) apply(held []finished, now time.Time) []event.Fact {
	var facts []event.Fact
	for _, f := range held {
		e := c[f.delivery.emailID]
		if next := e.counts.overall(); mayBecome(e.status, next) {
			e.status = next
		}
		if f.verdict.state == recipient.StateBounced {
			e.bounceReason = f.out.Diagnostic()
		}
		if f.verdict.event == "" {
			continue
		}
		e.lastEvent = string(f.verdict.event)
		data := f.delivery.message.payload(string(e.status))
		f.verdict.describe(&data, f.delivery, f.out, now)
		facts = append(facts, event.New(f.delivery.accountID, f.verdict.event, now.UTC(), data))
	}
	return facts
}

const storeEmailsSQL = `
UPDATE emails e SET status = v.status, uncommon = NULLIF(v.uncommon, ''), last_event = v.last_event, bounce_reason = NULLIF(v.bounce_reason, ''),
	delivered_at = CASE WHEN v.status = 'delivered' THEN coalesce(e.delivered_at, now()) END,
	bounced_at = CASE WHEN v.status = 'bounced' THEN coalesce(e.bounced_at, now()) END
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) AS v (id, status, uncommon, last_event, bounce_reason)
WHERE e.id = v.id`

func (c emailChanges) store(ctx context.Context, tx *sql.Tx) error {
	if len(c) == 0 {
		return nil
	}
	rows := make(columns, 5)
	for id, e := range c {
		rows.add(id, string(e.status), uncommon(e.status), e.lastEvent, e.bounceReason)
	}
	_, err := tx.ExecContext(ctx, storeEmailsSQL, rows.binary()...)
	return err
}
