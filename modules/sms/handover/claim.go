package handover

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/sms/provider"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

// job is one claimed message.
type job struct {
	provider.Message

	accountID string
	fence     int64
	attempts  int       // attempts before this claim
	expired   bool      // the message has used all its time
	cutOff    time.Time // start of an earlier attempt without an outcome; zero if none
}

// claimSQL claims messages of each account up to its free capacity, so that messages of an account with a
// hanging provider are not read over and over. If @until is set, nothing is claimed from that time on, because
// the process may have been frozen since it sent the statement.
var claimSQL = db.Compile(`
WITH RECURSIVE waiting AS (
	(SELECT account_id FROM sms_messages WHERE due_at IS NOT NULL ORDER BY account_id LIMIT 1)
	UNION ALL
	SELECT (SELECT m.account_id FROM sms_messages m WHERE m.due_at IS NOT NULL AND m.account_id > w.account_id ORDER BY m.account_id LIMIT 1)
	FROM waiting w WHERE w.account_id IS NOT NULL
), candidates AS (
	SELECT m.id, m.due_at FROM waiting w LEFT JOIN ` + busyRows.Source() + ` ON b.account_id = w.account_id CROSS JOIN LATERAL (
		SELECT id, due_at FROM sms_messages WHERE account_id = w.account_id AND due_at <= now() AND (@until::timestamptz IS NULL OR now() < @until)
		ORDER BY due_at LIMIT greatest(coalesce(b.room, @room), 0) FOR UPDATE SKIP LOCKED
	) m WHERE w.account_id IS NOT NULL
), picked AS (
	SELECT id FROM candidates ORDER BY due_at LIMIT @limit
), claimed AS (
	UPDATE sms_messages m SET due_at = now() + @lease * interval '1 microsecond', fence = m.fence + 1
	FROM picked p WHERE m.id = p.id
	RETURNING m.id, m.account_id, m."to", m."from", m.text, m.encoding, m.segments, m.fence, m.attempts, m.expires_at
)
SELECT c.id, c.account_id, c."to", c."from", c.text, c.encoding, c.segments, c.fence, c.attempts, now() >= c.expires_at,
	(SELECT min(a.started_at) FROM sms_attempts a WHERE a.message_id = c.id AND a.outcome IS NULL)
FROM claimed c`)

// room is how many more concurrent requests an account may make.
type room struct {
	accountID string
	more      int
}

var busyRows = batch.New("b",
	batch.Text("account_id", func(r room) string { return r.accountID }),
	batch.Int("room", func(r room) int { return r.more }),
)

// claim claims due messages under a lease.
func (s *Service) claim(ctx context.Context, limit int, lease time.Duration) ([]*job, error) {
	var until *time.Time
	if at := s.node.ClaimsUntil(); !at.IsZero() {
		until = &at
	}
	type row struct {
		job
		cutOff *time.Time
	}
	rows, err := db.All(ctx, s.db.Prepared, func(r *row) []any {
		return []any{&r.ID, &r.accountID, &r.To, &r.From, &r.Text, &r.Encoding, &r.Segments, &r.fence, &r.attempts,
			&r.expired, &r.cutOff}
	}, claimSQL.Text, claimSQL.Args(busyRows.Rows(s.freeRooms()), db.Arg("until", until),
		db.Arg("room", s.config.PerAccount),
		db.Arg("limit", limit), db.Arg("lease", lease.Microseconds()))...)
	if err != nil {
		return nil, fmt.Errorf("claim text messages: %w", err)
	}
	jobs := make([]*job, 0, len(rows))
	for i := range rows {
		j := rows[i].job
		if rows[i].cutOff != nil {
			j.cutOff = *rows[i].cutOff
		}
		j.ReceiptURL = s.account.ReceiptURL(j.ID)
		jobs = append(jobs, &j)
	}
	for _, j := range jobs {
		// always succeeds, because only this worker claims, and claimSQL respects the room
		s.held.TryAcquire(j.accountID)
	}
	return jobs, nil
}

var jobRows = batch.New("v",
	batch.Text("id", func(j *job) string { return j.ID }),
	batch.Int("fence", func(j *job) int64 { return j.fence }),
)

var releaseSQL = db.Compile(`
UPDATE sms_messages m SET due_at = now(), fence = m.fence + 1 FROM ` + jobRows.Source() + ` WHERE m.id = v.id AND m.fence = v.fence AND m.due_at IS NOT NULL`)

// release returns claimed messages that were not started.
func (s *Service) release(ctx context.Context, jobs []*job) error {
	if _, err := s.db.Hot.ExecContext(ctx, releaseSQL.Text, releaseSQL.Args(jobRows.Rows(jobs))...); err != nil {
		return fmt.Errorf("release text messages: %w", err)
	}
	for _, j := range jobs {
		s.finish(j)
	}
	return nil
}

// finish frees the capacity for another message of the account. Claims skip accounts without free capacity, so
// the worker has to claim again.
func (s *Service) finish(j *job) {
	full := s.held.InUse()[j.accountID] >= s.config.PerAccount
	s.held.Release(j.accountID)
	if full {
		s.worker.Nudge()
	}
}

// freeRooms returns how many more messages may be claimed for each account that has messages claimed.
func (s *Service) freeRooms() []room {
	var out []room
	for accountID, n := range s.held.InUse() {
		out = append(out, room{accountID, s.config.PerAccount - n})
	}
	return out
}
