package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/postrider/postrider/ent/attempt"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/bounce"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
	"github.com/postrider/postrider/runtime/work/event"
)

// finishedJob is a delivery with its outcome.
type finishedJob struct {
	job     Job
	out     smtpclient.Outcome
	verdict verdict
	factID  string // only of a plain delivery
}

// settleResults stores the outcomes of a batch of attempts: plain ones in one statement, the others in one
// transaction. Attempt rows are always updated, everything else only if the fence of the claim still holds.
// It can be repeated, because the fence of stored outcomes has changed.
func (s *settler) settleResults(ctx context.Context, results []worker.Result[Job, smtpclient.Outcome]) error {
	now := clock.Now()
	plain, batch, turnedAway, unbound := s.sortResults(results)
	if len(plain) > 0 {
		facts, err := s.settlePlain(ctx, plain, now)
		if err != nil {
			return err
		}
		s.results.count(plain)
		s.bus.WakeFor(facts...)
		s.begun.forgetJobs(deliveriesOf(plain)...)
	}
	if len(batch) == 0 && len(turnedAway) == 0 && len(unbound) == 0 {
		return nil
	}
	var facts []event.Fact
	var stored []*finishedJob
	err := s.db.InHotTx(ctx, func(tx *sql.Tx) error {
		if err := parkAgain(ctx, tx, turnedAway); err != nil {
			return fmt.Errorf("park recipients: %w", err)
		}
		if err := undoClaims(ctx, tx, unbound, unboundRetryDelay, nil); err != nil {
			return fmt.Errorf("return recipients: %w", err)
		}
		if len(batch) == 0 {
			return nil
		}
		held, err := updateRecipients(ctx, tx, batch)
		stored = held
		if err != nil {
			return fmt.Errorf("store recipient outcomes: %w", err)
		}
		changes, err := lockEmails(ctx, tx, held)
		if err != nil {
			return fmt.Errorf("lock emails: %w", err)
		}
		facts = changes.applyOutcomes(held, now)
		if err := changes.store(ctx, tx); err != nil {
			return fmt.Errorf("store email states: %w", err)
		}
		if err := s.bus.Publish(ctx, tx, facts...); err != nil {
			return fmt.Errorf("publish facts: %w", err)
		}
		return nil
	})
	if err == nil {
		s.results.count(stored)
		if len(turnedAway) > 0 {
			s.parking.add(labelsOf(turnedAway))
			s.nudge() // the lane may have room since it turned them away
		}
		s.bus.WakeFor(facts...)
		s.begun.forgetJobs(deliveriesOf(batch)...)
	}
	return err
}

// sortResults separates deliveries that one statement can store (plain) from others (batch), and both from those
// that were not tried because their lane had no room or their source address was gone.
func (s *settler) sortResults(results []worker.Result[Job,
	smtpclient.Outcome]) (plain, batch []*finishedJob, turnedAway, unbound []Job) {
	for _, r := range results {
		switch {
		case errors.Is(r.Value.Err, smtpclient.ErrAddressGone):
			unbound = append(unbound, r.Job)
		case errors.Is(r.Value.Err, lane.ErrNoRoom):
			turnedAway = append(turnedAway, r.Job)
		default:
			if f := (&finishedJob{job: r.Job, out: r.Value, verdict: s.judgeDelivery(r.Job, r.Value)}); f.isPlain() {
				plain = append(plain, f)
			} else {
				batch = append(batch, f)
			}
		}
	}
	return plain, batch, turnedAway, unbound
}

// unboundRetryDelay is how soon mail is claimed again whose source address had left this machine. By then, every
// process knows which one has the address.
const unboundRetryDelay = 6 * time.Second

func deliveriesOf(list []*finishedJob) []Job {
	jobs := make([]Job, len(list))
	for i, f := range list {
		jobs[i] = f.job
	}
	return jobs
}

// judgeDelivery first checks whether a fallback is left.
func (s *settler) judgeDelivery(d Job, out smtpclient.Outcome) verdict {
	if d.via == "" && d.message != nil {
		if v, possible := divertToFallback(out); possible && s.ways.HasFallback(d.accountID, d.message.DomainID) {
			return v
		}
	}
	return judgeOutcome(d, out)
}

// parkAgain undoes the claims of deliveries that their lane turned away once their mail host was known. No
// attempt was made, so none remains in the records.
func parkAgain(ctx context.Context, tx *sql.Tx, jobs []Job) error {
	return undoClaims(ctx, tx, jobs, 0, labelsOf(jobs))
}

func labelsOf(jobs []Job) []string {
	labels := make([]string, len(jobs))
	for i, d := range jobs {
		labels[i] = laneLabel(d.way.Label, d.destination)
	}
	return labels
}

// finishedColumns contains the columns of finished deliveries.
var finishedColumns = batch.New("v",
	batch.Text("email_id", func(f *finishedJob) string { return f.job.emailID }),
	batch.Int("id", func(f *finishedJob) int64 { return f.job.recipientID }),
	batch.Int("fence", func(f *finishedJob) int64 { return f.job.fence }),
	batch.Text("state", func(f *finishedJob) recipient.State { return f.verdict.state }),
	batch.Int("wait", func(f *finishedJob) int64 { return f.verdict.wait.Microseconds() }),
	batch.Bool("notify", func(f *finishedJob) bool { return f.verdict.event == event.EmailDeliveryDelayed }),
	batch.Text("via", func(f *finishedJob) string { return f.verdict.via }),
	batch.Text("outcome", func(f *finishedJob) attempt.Outcome { return f.verdict.outcome }),
	batch.Text("class", func(f *finishedJob) bounce.Class { return classOf(f.out) }),
	batch.Text("phase", func(f *finishedJob) smtpclient.Phase { return f.out.Phase }),
	batch.Int("code", func(f *finishedJob) int { return f.out.Code }),
	batch.Text("enhanced_code", func(f *finishedJob) string { return f.out.EnhancedCode }),
	batch.Text("reply", func(f *finishedJob) string { return f.out.Diagnostic() }),
	batch.Text("remote_host", func(f *finishedJob) string { return f.out.RemoteHost }),
	batch.Text("remote_addr", func(f *finishedJob) string { return f.out.RemoteAddr }),
	batch.Text("tls", func(f *finishedJob) string { return f.out.TLS }),
	batch.Text("tls_policy", func(f *finishedJob) smtpclient.TLSPolicy { return f.out.TLSPolicy }),
	batch.Text("local_addr", func(f *finishedJob) string { return f.out.LocalAddr }),
)

// The attempt's outcome is stored regardless of which claim holds the recipient by now. The recipient changes
// only under the fence of the claim that made the attempt. The fence increases, so that a batch whose commit
// was not confirmed can be repeated.
var settleSQL = db.Compile(`
WITH done AS (
	SELECT * FROM ` + finishedColumns.Source() + `
), tried AS (
	UPDATE attempts a SET finished_at = clock_timestamp(), outcome = v.outcome, phase = v.phase, code = NULLIF(v.code, 0),
		enhanced_code = NULLIF(v.enhanced_code, ''), reply = v.reply, remote_host = v.remote_host, remote_addr = v.remote_addr, tls = v.tls, tls_policy = v.tls_policy, local_addr = v.local_addr, class = v.class,
		in_doubt_at = CASE WHEN v.outcome = 'unknown' THEN now() END
	FROM done v WHERE a.email_id BETWEEN v.email_id AND v.email_id AND a.recipient_id = v.id AND a.fence = v.fence
)
UPDATE recipients r SET state = v.state, fence = r.fence + 1, via = v.via, code = NULLIF(v.code, 0), enhanced_code = NULLIF(v.enhanced_code, ''),
	diagnostic = NULLIF(v.reply, ''), remote_mta = NULLIF(v.remote_host, ''),
	due_at = CASE WHEN v.state = 'deferred' THEN now() + v.wait * interval '1 microsecond' END,
	settled_at = CASE WHEN v.state <> 'deferred' THEN now() END,
	delay_notified_at = CASE WHEN v.notify THEN now() ELSE r.delay_notified_at END
FROM done v WHERE ` + lifecycle.RecipientSQL + ` AND r.fence = v.fence AND r.due_at IS NOT NULL
RETURNING r.id`)

// updateRecipients stores the outcomes and returns the deliveries whose fence held.
func updateRecipients(ctx context.Context, tx *sql.Tx, batch []*finishedJob) ([]*finishedJob, error) {
	byID := make(map[int64]*finishedJob, len(batch))
	for _, f := range batch {
		byID[f.job.recipientID] = f
	}
	updated, err := db.All(ctx, tx, db.Value[int64], settleSQL.Text, settleSQL.Args(finishedColumns.Rows(batch))...)
	ours := make([]*finishedJob, 0, len(updated))
	for _, id := range updated {
		ours = append(ours, byID[id])
	}
	return ours, err
}

// emailChange is the state of one email while a batch is applied to it.
type emailChange struct {
	id           string
	status       email.Status
	lastEvent    string
	bounceReason string
	counts       lifecycle.RecipientCounts
}

type emailChanges map[string]*emailChange

const (
	lockEmailsSQL = `SELECT e.id, e.status, e.last_event, coalesce(e.bounce_reason, '') FROM unnest($1::text[]) AS v (id) JOIN emails e ON e.id = v.id ORDER BY e.id FOR UPDATE OF e`
	tallySQL      = `SELECT r.email_id, r.state, count(*) FROM unnest($1::text[]) AS e (id) JOIN recipients r ON r.email_id = e.id GROUP BY 1, 2`
)

// lockEmails locks the emails' rows, in id order so that two batches cannot deadlock, and counts their
// recipients by their current states.
func lockEmails(ctx context.Context, tx *sql.Tx, held []*finishedJob) (emailChanges, error) {
	changes := emailChanges{}
	for _, f := range held {
		changes[f.job.emailID] = nil
	}
	ids := db.Array(slices.Sorted(maps.Keys(changes)))
	emails, err := db.All(ctx, tx,
		func(e *emailChange) []any { return []any{&e.id, &e.status, &e.lastEvent, &e.bounceReason} },
		lockEmailsSQL, ids)
	if err != nil {
		return nil, err
	}
	for i := range emails {
		emails[i].counts = lifecycle.RecipientCounts{}
		changes[emails[i].id] = &emails[i]
	}
	type count struct {
		id    string
		state recipient.State
		n     int
	}
	counts, err := db.All(ctx, tx, func(c *count) []any { return []any{&c.id, &c.state, &c.n} }, tallySQL, ids)
	for _, c := range counts {
		changes[c.id].counts[c.state] = c.n
	}
	return changes, err
}

// applyOutcomes updates the emails' states with the batch and returns the facts to publish.
func (c emailChanges) applyOutcomes(held []*finishedJob, now time.Time) []event.Fact {
	var facts []event.Fact
	for _, f := range held {
		e := c[f.job.emailID]
		if next := e.counts.OverallStatus(); lifecycle.MayBecome(e.status, next) {
			e.status = next
		}
		if f.verdict.state == recipient.StateBounced {
			e.bounceReason = f.out.Diagnostic()
		}
		if f.verdict.event == "" {
			continue
		}
		e.lastEvent = string(f.verdict.event)
		data := f.job.message.Payload(string(e.status))
		f.verdict.describe(&data, f.job, f.out, now)
		facts = append(facts, event.New(f.job.accountID, f.verdict.event, now.UTC(), data))
	}
	return facts
}

// changedColumns contains the columns of emails whose recipients have settled.
var changedColumns = batch.New("v",
	batch.Text("id", func(e *emailChange) string { return e.id }),
	batch.Text("status", func(e *emailChange) email.Status { return e.status }),
	batch.Text("uncommon", func(e *emailChange) string { return lifecycle.UncommonValue(e.status) }),
	batch.Text("last_event", func(e *emailChange) string { return e.lastEvent }),
	batch.Text("bounce_reason", func(e *emailChange) string { return e.bounceReason }),
)

var storeEmailsSQL = db.Compile(`
UPDATE emails e SET status = v.status, uncommon = NULLIF(v.uncommon, ''), last_event = v.last_event, bounce_reason = NULLIF(v.bounce_reason, ''),
	delivered_at = CASE WHEN v.status = 'delivered' THEN coalesce(e.delivered_at, now()) END,
	bounced_at = CASE WHEN v.status = 'bounced' THEN coalesce(e.bounced_at, now()) END
FROM ` + changedColumns.Source() + `
WHERE e.id = v.id`)

func (c emailChanges) store(ctx context.Context, tx *sql.Tx) error {
	if len(c) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, storeEmailsSQL.Text,
		storeEmailsSQL.Args(changedColumns.Rows(slices.Collect(maps.Values(c))))...)
	return err
}
