package sending

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// delivery is one claimed recipient: the worker's job.
type delivery struct {
	recipientID int64
	fence       int64
	emailID     string
	accountID   string
	address     string
	attempt     int           // from 1
	age         time.Duration // since acceptance or release, by the database clock
	noticeDue   bool          // email.delivery_delayed may be sent again
	message     *outgoing     // shared by the message's recipients in one claim

	destination string // the address's domain
	via         string // "" or outbound.ViaFallback
	way         smtpclient.Way
	ticket      ticket // of the lane; nil for what is not to be tried
	untried     string // why the lane is paused: no attempt is made
	ahead       bool   // claimed before there was a connection for it
}

// takeSQL makes deliveries of picked rows: it pushes their due_at to the end of the
// lease and writes their attempt rows, all in one statement. An attempt of an
// earlier claim that has no outcome was cut off: what became of it is unknown, unless it
// is known that it had not started, and is now recorded as that.
const takeSQL = `
WITH claimed AS (
	UPDATE recipients r SET due_at = now() + $3 * interval '1 microsecond', fence = r.fence + 1, attempts = r.attempts + 1, lane = NULL
	FROM unnest($1::bigint[], $2::text[], $6::bool[]) AS v (id, way, ahead) WHERE r.id = v.id
	RETURNING r.id, r.fence, r.email_id, r.account_id, r.address, r.attempts, r.queued_at, r.delay_notified_at, v.way, v.ahead
), cut_off AS (
	UPDATE attempts a SET outcome = ` + notStartedSQL + `, finished_at = now()
	FROM claimed c WHERE c.attempts > 1 AND a.recipient_id = c.id AND a.outcome IS NULL
), opened AS (
	INSERT INTO attempts (recipient_id, email_id, account_id, number, fence, started_at, phase, reply, remote_host, remote_addr, tls, way, node, ahead)
	SELECT id, email_id, account_id, attempts, fence, now(), '', '', '', '', '', way, NULLIF($5::int, 0), ahead FROM claimed
)
SELECT id, fence, email_id, account_id, address, attempts,
	(extract(epoch FROM now() - queued_at) * 1000000)::bigint,
	delay_notified_at IS NULL OR delay_notified_at <= now() - $4 * interval '1 microsecond'
FROM claimed`

// claim takes up to limit deliveries under a lease, with their messages.
func (s *Service) claim(ctx context.Context, limit int, lease time.Duration) ([]delivery, error) {
	if err := s.findLanes(ctx); err != nil {
		return nil, err
	}
	for range claimRounds {
		jobs, more, err := s.claimOnce(ctx, limit, lease)
		if err != nil || len(jobs) > 0 || !more {
			return jobs, err
		}
	}
	return nil, nil
}

const (
	// claimRounds is how often a claim that could only park tries again at once.
	claimRounds = 10
	// pickAhead is how many rows a claim looks at beyond its limit while rows that can
	// only be parked stand before those of others.
	pickAhead = 400
)

// claimOnce is one transaction, so that a claim whose messages cannot be read holds
// nothing. more: it only parked, and there may be others behind.
func (s *Service) claimOnce(ctx context.Context, limit int, lease time.Duration) (jobs []delivery, more bool, err error) {
	var list []pickedRow
	defer func() {
		if err != nil {
			end(list, nil)
		}
	}()
	draws := s.draws((limit + 1) / 2)
	common := limit
	for _, d := range draws {
		common -= d.room
	}
	if s.parking.backlogged() {
		common += pickAhead
	}
	err = s.db.InPreparedTx(ctx, func(tx *db.PreparedTx) error {
		if list, err = pick(ctx, tx, common, draws, s.node.Until()); err != nil {
			return fmt.Errorf("pick recipients: %w", err)
		}
		s.parking.drawn(draws, list)
		if len(list) == 0 {
			return nil
		}
		if err := s.judgePicked(ctx, list, limit); err != nil {
			return err
		}
		lanes, err := s.parkRows(ctx, tx, list)
		if err != nil {
			return err
		}
		s.parking.parked(lanes) // too early, should the transaction fail: that costs a look
		more = len(lanes) > 0 && len(list) >= common
		jobs, err = s.take(ctx, tx, list, lease)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	if jobs, err = s.holdSuspended(ctx, jobs); err != nil {
		return nil, false, fmt.Errorf("hold mail of suspended accounts: %w", err)
	}
	end(list, jobs)
	s.load.begin(jobs)
	return jobs, more, nil
}

// end gives back the reservations of rows that became no delivery.
func end(list []pickedRow, jobs []delivery) {
	for _, c := range list {
		if c.ticket != nil && !slices.ContainsFunc(jobs, func(d delivery) bool { return d.recipientID == c.id }) {
			c.ticket.End()
		}
	}
}

// take makes deliveries of the rows that may be.
func (s *Service) take(ctx context.Context, tx *db.PreparedTx, list []pickedRow, lease time.Duration) ([]delivery, error) {
	var ids []int64
	var labels []string
	var ahead []bool
	byID := map[int64]pickedRow{}
	for _, c := range list {
		if c.verdict == take || c.verdict == untried {
			ids, labels, byID[c.id] = append(ids, c.id), append(labels, c.way.Label), c
			ahead = append(ahead, c.ahead())
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	if err := s.ways.Count(ctx, tx, labels); err != nil {
		return nil, fmt.Errorf("count by way: %w", err)
	}
	rows, err := tx.Look(ctx, takeSQL, pq.Array(ids), pq.Array(labels), lease.Microseconds(), delayNoticeEvery.Microseconds(), s.node.ID(), pq.Array(ahead))
	if err != nil {
		return nil, fmt.Errorf("claim recipients: %w", err)
	}
	jobs, err := scanAll(rows, func(d *delivery) []any {
		return []any{&d.recipientID, &d.fence, &d.emailID, &d.accountID, &d.address, &d.attempt, (*microseconds)(&d.age), &d.noticeDue}
	})
	if err != nil {
		return nil, fmt.Errorf("claim recipients: %w", err)
	}
	for i := range jobs {
		c := byID[jobs[i].recipientID]
		jobs[i].way, jobs[i].destination, jobs[i].via, jobs[i].ticket, jobs[i].untried = c.way, c.Destination, c.Via, c.ticket, c.reason
		jobs[i].ahead = c.ahead()
	}
	if slices.Contains(ahead, true) {
		s.begun.show()
	}
	if err := attachMessages(ctx, tx, jobs); err != nil {
		return nil, fmt.Errorf("load claimed emails: %w", err)
	}
	if jobs, err = s.putOff(ctx, tx.Tx, jobs); err != nil {
		return nil, fmt.Errorf("put off heavy emails: %w", err)
	}
	return jobs, nil
}

// inlineBody bounds what a claim loads for every message at once; larger bodies
// and attachments are loaded when their delivery begins.
const inlineBody = 256 << 10

const loadSQL = `
SELECT id, account_id, domain_id, "from", "to", coalesce(cc, '[]'), coalesce(reply_to, '[]'), subject,
	coalesce(headers, '[]'), coalesce(tags, '[]'), message_id, attachment_count, created_at, coalesce(sent_at, created_at), unsubscribe, coalesce(category, ''),
	coalesce((extract(epoch FROM expires_at - now()) * 1000000)::bigint, 0), expires_at IS NOT NULL,
	coalesce("to"->>0, cc->>0, bcc->>0, ''), jsonb_array_length("to") + jsonb_array_length(coalesce(cc, '[]')) + jsonb_array_length(coalesce(bcc, '[]')) = 1,
	CASE WHEN small THEN coalesce(html, '') ELSE '' END, CASE WHEN small THEN coalesce(text, '') ELSE '' END, mime IS NOT NULL, CASE WHEN small THEN mime END, small,
	body + CASE WHEN attachment_count = 0 THEN 0 ELSE (SELECT coalesce(sum(a.size), 0)::bigint FROM attachments a WHERE a.email_id = e.id) END
FROM (SELECT *, body <= $2 AND (attachment_count = 0 OR mime IS NOT NULL) AS small
	FROM (SELECT *, coalesce(octet_length(html), 0) + coalesce(octet_length(text), 0) + coalesce(octet_length(mime), 0) AS body FROM emails WHERE id = ANY($1)) b) e`

func attachMessages(ctx context.Context, tx *db.PreparedTx, jobs []delivery) error {
	ids := make([]string, 0, len(jobs))
	for _, j := range jobs {
		ids = append(ids, j.emailID)
	}
	rows, err := tx.Look(ctx, loadSQL, pq.Array(ids), inlineBody)
	if err != nil {
		return err
	}
	messages, err := scanAll(rows, func(o *outgoing) []any {
		return []any{&o.id, &o.accountID, &o.domainID, &o.from, jsonColumn{&o.to}, jsonColumn{&o.cc}, jsonColumn{&o.replyTo}, &o.subject,
			jsonColumn{&o.headers}, jsonColumn{&o.tags}, &o.messageID, &o.attachments, &o.createdAt, &o.date, &o.unsubscribe, &o.category, (*microseconds)(&o.life), &o.expires, &o.first, &o.lonely, &o.html, &o.text, &o.relayed, &o.mime, &o.loaded, &o.size}
	})
	if err != nil {
		return err
	}
	byID := make(map[string]*outgoing, len(messages))
	for i := range messages {
		byID[messages[i].id] = &messages[i]
	}
	for i := range jobs {
		jobs[i].message = byID[jobs[i].emailID]
	}
	return nil
}

const extendSQL = `
UPDATE recipients r SET due_at = now() + $3 * interval '1 microsecond'
FROM unnest($1::bigint[], $2::bigint[]) AS v (id, fence)
WHERE r.id = v.id AND r.fence = v.fence AND r.due_at IS NOT NULL
RETURNING r.id`

// extend prolongs the leases of deliveries that still run.
func (s *Service) extend(ctx context.Context, jobs []delivery, lease time.Duration) ([]bool, error) {
	ids, fences := fencing(jobs)
	rows, err := s.db.Hot.QueryContext(ctx, extendSQL, ids, fences, lease.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("extend leases: %w", err)
	}
	ours, err := scanAll(rows, func(id *int64) []any { return []any{id} })
	if err != nil {
		return nil, fmt.Errorf("extend leases: %w", err)
	}
	held := make([]bool, len(jobs))
	for i, j := range jobs {
		held[i] = slices.Contains(ours, j.recipientID)
	}
	return held, nil
}

// release gives back deliveries that were claimed and never begun.
func (s *Service) release(ctx context.Context, jobs []delivery) error {
	for _, d := range jobs {
		s.over(d)
	}
	return undo(ctx, s.db.Hot, jobs, 0, nil)
}

func fencing(jobs []delivery) (ids, fences any) {
	id, fence := make([]int64, len(jobs)), make([]int64, len(jobs))
	for i, j := range jobs {
		id[i], fence[i] = j.recipientID, j.fence
	}
	return pq.Array(id), pq.Array(fence)
}

// scanAll reads every row and closes rows.
func scanAll[T any](rows *sql.Rows, fields func(*T) []any) (out []T, err error) {
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		var row T
		if err := rows.Scan(fields(&row)...); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// jsonColumn scans a JSON column into what it points at.
type jsonColumn struct{ into any }

func (c jsonColumn) Scan(src any) error {
	switch v := src.(type) {
	case []byte:
		return json.Unmarshal(v, c.into)
	case string:
		return json.Unmarshal([]byte(v), c.into)
	default:
		return fmt.Errorf("json column holds %T", src)
	}
}

// microseconds scans a count of microseconds into a duration.
type microseconds time.Duration

func (m *microseconds) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("microseconds column holds %T", src)
	}
	*m = microseconds(time.Duration(n) * time.Microsecond)
	return nil
}
