package delivery

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/modules/sending/compose"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Job is one claimed recipient for a worker to deliver to.
type Job struct {
	recipientID int64
	fence       int64
	emailID     string
	accountID   string
	address     string
	attempt     int                  // from 1
	age         time.Duration        // since acceptance or release, by the database clock
	noticeDue   bool                 // email.delivery_delayed may be sent again
	message     *compose.StoredEmail // shared by the message's recipients in one claim

	destination string // the address's domain
	via         string // "" or outbound.ViaFallback
	way         smtpclient.Way
	ticket      ticket // the lane's ticket; nil if no attempt may be made
	untried     string // the reason the lane is paused; if set, no attempt is made
	ahead       bool   // claimed before a connection was free for it
	due         int64  // time before the claim, in microseconds since 1970 by the database clock
}

// RecipientID returns the ID of the recipient's row.
func (d Job) RecipientID() int64 { return d.recipientID }

// EmailID returns the ID of the recipient's email.
func (d Job) EmailID() string { return d.emailID }

// Address returns the recipient's addr-spec.
func (d Job) Address() string { return d.address }

// takeSQL turns picked rows into deliveries: it moves their due_at to the end of the lease and inserts their
// attempt rows, in one statement. takeAgainSQL is for batches that include rows claimed before. An attempt of
// an earlier claim without an outcome was cut off. Its outcome becomes unknown, or not_started if it is known
// that it did not reach its final dot.
const (
	takeSQL      = takeClaimedSQL + takeOpenedSQL
	takeAgainSQL = takeClaimedSQL + `, cut_off AS (
	UPDATE attempts a SET ` + closeCutOffSQL + `
	FROM claimed c WHERE c.attempts > 1 AND a.email_id BETWEEN c.email_id AND c.email_id AND a.recipient_id = c.id AND a.fence < c.fence AND a.outcome IS NULL
)` + takeOpenedSQL

	takeClaimedSQL = `
WITH claimed AS (
	UPDATE recipients r SET due_at = now() + $5 * interval '1 microsecond', fence = r.fence + 1, attempts = r.attempts + 1, lane = NULL
	FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bool[]) AS v (email_id, id, way, ahead) WHERE ` + lifecycle.RecipientSQL + `
	RETURNING r.id, r.fence, r.email_id, r.account_id, r.address, r.attempts, r.queued_at, r.delay_notified_at, v.way, v.ahead
)`
	takeOpenedSQL = `, opened AS (
	INSERT INTO attempts (recipient_id, email_id, account_id, number, fence, started_at, phase, reply, remote_host, remote_addr, tls, way, node, ahead)
	SELECT id, email_id, account_id, attempts, fence, now(), '', '', '', '', '', way, NULLIF($7::int, 0), ahead FROM claimed
)
SELECT id, fence, email_id, account_id, address, attempts,
	(extract(epoch FROM now() - queued_at) * 1000000)::bigint,
	delay_notified_at IS NULL OR delay_notified_at <= now() - $6 * interval '1 microsecond'
FROM claimed`
)

// claimJobs claims up to limit deliveries under a lease, along with their messages.
func (c *claimer) claimJobs(ctx context.Context, limit int, lease time.Duration) ([]Job, error) {
	if err := c.findLanes(ctx); err != nil {
		return nil, err
	}
	if err := c.undoAbandoned(ctx); err != nil {
		return nil, err
	}
	for range claimRounds {
		jobs, more, err := c.claimOnce(ctx, limit, lease)
		if err != nil || len(jobs) > 0 || !more {
			return jobs, err
		}
	}
	c.nudge() // continue in the next claim, so that a stop is not delayed
	return nil, nil
}

const (
	// claimRounds is how often a claim retries immediately while it could only park recipients.
	claimRounds = 10
	// pickAhead is how many rows beyond its limit a claim examines while rows that can only be parked precede
	// others in the queue.
	pickAhead = 400
)

// claimOnce claims in one transaction, so that a claim whose messages cannot be read holds nothing. more
// reports that it claimed less than it could have: it only parked recipients and there may be others after
// them, or it did not visit all lanes.
func (c *claimer) claimOnce(ctx context.Context, limit int, lease time.Duration) (jobs []Job, more bool, err error) {
	var list []pickedRow
	var chosen []Job
	var others bool // whether recipients were parked for other processes
	defer func() {
		releaseUnused(list, jobs)
		c.load.releaseSlots(slices.DeleteFunc(chosen,
			func(d Job) bool { return containsRecipient(jobs, d.recipientID) })...)
	}()
	draws, more := c.chooseDraws((limit + 1) / 2)
	common := limit
	for _, d := range draws {
		common -= d.room
	}
	common = max(common, 1) // otherwise a lane that turns out to be empty would keep the claim from finding anything
	if c.parking.hasBacklog() {
		common += pickAhead
	}
	mark := c.unseen.currentMark()
	err = c.db.InPreparedTx(ctx, func(tx *db.PreparedTx) error {
		if list, err = pickRows(ctx, tx, common, draws, c.node.ClaimsUntil()); err != nil {
			return fmt.Errorf("pick recipients: %w", err)
		}
		if len(list) == 0 {
			markEmptied(draws, list)
			return nil
		}
		if err := c.judgePicked(ctx, list, draws, limit); err != nil {
			return err
		}
		parked, err := c.parkRows(ctx, tx, list)
		if err != nil {
			return err
		}
		c.parking.addParked(parked) // before the commit: tracking a lane without need only costs a draw
		others = parked.others
		more = more || parked.hasRows() && countCommon(list) >= common
		jobs, err = c.takeRows(ctx, tx, list, lease)
		chosen = slices.Clone(jobs)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	c.parking.removeEmptied(draws)
	c.unseen.recordClaim(mark, countCommon(list) < common && !leavesCommon(list))
	if others {
		c.signals.Wake(parkedChannel)
	}
	if jobs, err = c.holdSuspended(ctx, jobs); err != nil {
		return nil, false, fmt.Errorf("hold mail of suspended accounts: %w", err)
	}
	return jobs, more, nil
}

// releaseUnused releases the lane reservations of rows that did not become deliveries.
func releaseUnused(list []pickedRow, jobs []Job) {
	for _, c := range list {
		if c.ticket != nil && !containsRecipient(jobs, c.id) {
			c.ticket.End()
		}
	}
}

func containsRecipient(jobs []Job, recipientID int64) bool {
	return slices.ContainsFunc(jobs, func(d Job) bool { return d.recipientID == recipientID })
}

// takeRows turns the rows that were granted into deliveries.
func (c *claimer) takeRows(ctx context.Context, tx *db.PreparedTx, list []pickedRow,
	lease time.Duration) ([]Job, error) {
	var ids []int64
	var emails, labels []string
	var ahead []bool
	statement := takeSQL
	byID := map[int64]pickedRow{}
	for _, row := range list {
		if row.verdict == take || row.verdict == untried {
			ids, labels, byID[row.id] = append(ids, row.id), append(labels, row.way.Label), row
			emails, ahead = append(emails, row.emailID), append(ahead, row.isAhead())
			if row.attempts > 0 {
				statement = takeAgainSQL
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	if err := c.ways.Count(ctx, tx, labels); err != nil {
		return nil, fmt.Errorf("count by way: %w", err)
	}
	jobs, err := db.All(ctx, tx, func(d *Job) []any {
		return []any{&d.recipientID, &d.fence, &d.emailID, &d.accountID, &d.address, &d.attempt,
			db.ScanMicroseconds(&d.age), &d.noticeDue}
	}, statement, db.Array(emails), db.Array(ids), db.Array(labels), db.Array(ahead), lease.Microseconds(),
		delayNoticeEvery.Microseconds(), c.node.ID())
	if err != nil {
		return nil, fmt.Errorf("claim recipients: %w", err)
	}
	for i := range jobs {
		row := byID[jobs[i].recipientID]
		jobs[i].way, jobs[i].destination, jobs[i].via, jobs[i].ticket, jobs[i].untried = row.way, row.Destination,
			row.Via, row.ticket, row.reason
		jobs[i].ahead, jobs[i].due = row.isAhead(), row.due
	}
	if slices.Contains(ahead, true) {
		c.begun.storeInitialState()
	}
	if err := attachMessages(ctx, tx, jobs); err != nil {
		return nil, fmt.Errorf("load claimed emails: %w", err)
	}
	if jobs, err = c.postponeHeavy(ctx, tx.Tx, jobs); err != nil {
		return nil, fmt.Errorf("postpone heavy emails: %w", err)
	}
	return jobs, nil
}

// attachMessages sets the message of each job. Jobs of the same email share it.
func attachMessages(ctx context.Context, tx *db.PreparedTx, jobs []Job) error {
	ids := make([]string, 0, len(jobs))
	for _, j := range jobs {
		ids = append(ids, j.emailID)
	}
	messages, err := compose.Load(ctx, tx, ids)
	if err != nil {
		return err
	}
	for i := range jobs {
		jobs[i].message = messages[jobs[i].emailID]
	}
	return nil
}

const extendSQL = `
UPDATE recipients r SET due_at = now() + $4 * interval '1 microsecond'
FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS v (email_id, id, fence)
WHERE ` + lifecycle.RecipientSQL + ` AND r.fence = v.fence AND r.due_at IS NOT NULL
RETURNING r.id`

// extendLeases extends the leases of running deliveries.
func (c *claimer) extendLeases(ctx context.Context, jobs []Job, lease time.Duration) ([]bool, error) {
	emails, ids, fences := fencingArgs(jobs)
	ours, err := db.All(ctx, c.db.Hot, db.Value[int64], extendSQL, emails, ids, fences, lease.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("extend leases: %w", err)
	}
	held := make([]bool, len(jobs))
	for i, j := range jobs {
		held[i] = slices.Contains(ours, j.recipientID)
	}
	return held, nil
}

// releaseJobs returns deliveries that were claimed but never begun.
func (c *claimer) releaseJobs(ctx context.Context, jobs []Job) error {
	for _, d := range jobs {
		c.releaseHeld(d)
	}
	if err := undoClaims(ctx, c.db.Hot, jobs, 0, nil); err != nil {
		return err
	}
	c.signals.Wake(lifecycle.DueChannel)
	return nil
}

// fencingArgs returns the emails, ids and fences of jobs as statement arguments.
func fencingArgs(jobs []Job) (emails, ids, fences any) {
	emailID, id, fence := make([]string, len(jobs)), make([]int64, len(jobs)), make([]int64, len(jobs))
	for i, j := range jobs {
		emailID[i], id[i], fence[i] = j.emailID, j.recipientID, j.fence
	}
	return db.Array(emailID), db.Array(id), db.Array(fence)
}
