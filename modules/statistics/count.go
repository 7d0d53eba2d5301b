package statistics

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/id"
)

// Histograms of latencies have bins from 0.1 seconds on, each 1.2 times as wide as the one before: what
// is said to be in the middle of a bin is at most 10 % away. The last one begins at four and a half days.
const (
	firstBin = 0.1
	widening = 1.2
	lastBin  = 84
)

// factsSQL makes the relations q, l and b: the facts of a selection, counted by quarters of an hour. The
// selection is a condition on f. A machine's open or click is none, and of things that may happen to a
// recipient several times the first one counts.
//
// Facts that are equal in all that matters are counted together (g) before they are told apart by kind:
// most facts of a minute differ in nothing but their email, and a row for each kind of each fact would
// cost three times as much. sign is + or -.
func factsSQL(selection, sign string) string {
	const machine = `coalesce((%[1]s.data->'open'->>'machine')::boolean, (%[1]s.data->'click'->>'machine')::boolean, false)`
	const whom = `coalesce(%[1]s.data->>'recipient', %[1]s.data->>'email', '')`
	const quarter = `date_bin('15 minutes', %s, timestamptz '2000-01-01 00:00:00Z')`
	return `
f AS MATERIALIZED (
	SELECT f.account_id, f.type, f.created_at, f.subject_id, ` + fmt.Sprintf(whom, "f") + ` AS whom, CASE WHEN f.type IN ('email.bounced', 'email.failed') THEN f.data->'bounce' END AS bounce
	  FROM facts f
	 WHERE ` + selection + `
	   AND f.type IN ('email.sent', 'email.delivered', 'email.delivery_delayed', 'email.bounced', 'email.failed', 'email.complained', 'email.opened', 'email.clicked',
		'email.suppressed', 'contact.unsubscribed')
	   AND (f.type IN ('email.sent', 'email.delivered', 'email.failed', 'email.suppressed') OR NOT ` + fmt.Sprintf(machine, "f") + ` AND NOT EXISTS (
		SELECT FROM facts e WHERE e.subject_id = f.subject_id AND e.id < f.id AND e.type = f.type AND e.account_id = f.account_id
		   AND ` + fmt.Sprintf(whom, "e") + ` = ` + fmt.Sprintf(whom, "f") + ` AND NOT ` + fmt.Sprintf(machine, "e") + `))
), e AS MATERIALIZED (
	SELECT f.account_id, f.type, f.created_at, f.subject_id, f.bounce, ` + fmt.Sprintf(quarter, "f.created_at") + ` AS happened, ` + fmt.Sprintf(quarter, "coalesce(m.sent_at, f.created_at)") + ` AS handed,
		CASE WHEN f.type = 'email.delivered' AND m.sent_at IS NOT NULL THEN ` + binSQL + ` END AS bin, coalesce(m.domain_id, '') AS domain_id, coalesce(m.api_key_id, '') AS api_key_id,
		coalesce(m.template_id, '') AS template_id, coalesce(m.automation_id, '') AS automation_id, m.tags, r.reach, r.destinations, f.whom <> '' AS one,
		CASE WHEN f.whom <> '' THEN lower(substring(f.whom FROM '[^@]*$')) WHEN r.least = r.greatest THEN r.least ELSE '' END AS domain,
		CASE WHEN f.type IN ('email.bounced', 'email.failed') THEN coalesce((
			SELECT t.class FROM recipients p JOIN attempts t ON t.email_id = p.email_id AND t.recipient_id = p.id
			 WHERE p.email_id = m.id AND p.address = f.whom AND t.class <> '' ORDER BY t.id DESC LIMIT 1),
			(SELECT d.class FROM delivery_reports d WHERE d.email_id = m.id AND d.class <> '' ORDER BY d.id DESC LIMIT 1), 'unknown') END AS class
	  FROM f LEFT JOIN emails m ON m.id = f.subject_id AND m.account_id = f.account_id,
		LATERAL (SELECT count(*) AS reach, min(destination) AS least, max(destination) AS greatest, array_agg(destination ORDER BY destination) AS destinations
			FROM recipients r WHERE r.email_id = m.id AND (f.type = 'email.sent' OR f.whom = '')) r
), g AS MATERIALIZED (
	SELECT account_id, type, happened, handed, bin, domain_id, api_key_id, template_id, automation_id, tags, reach, destinations, one, domain, class, ` + sign + `count(*) AS facts
	  FROM e GROUP BY account_id, type, happened, handed, bin, domain_id, api_key_id, template_id, automation_id, tags, reach, destinations, one, domain, class
), k AS MATERIALIZED (
	SELECT g.account_id, g.type, g.bin, g.one, g.facts, placed, CASE placed WHEN 0 THEN g.happened ELSE g.handed END AS start, k.kind, k.key, k.n,
		CASE WHEN k.kind IN (0, 5, 6) THEN '' ELSE g.domain_id END AS domain_id, CASE WHEN k.kind IN (0, 5, 6) THEN '' ELSE g.api_key_id END AS api_key_id,
		CASE WHEN k.kind IN (0, 5, 6) THEN '' ELSE g.template_id END AS template_id, CASE WHEN k.kind IN (0, 5, 6) THEN '' ELSE g.automation_id END AS automation_id
	  FROM g, LATERAL (
		SELECT 0 AS kind, '' AS key, g.reach AS n
		UNION ALL SELECT 1, '', g.reach
		UNION ALL SELECT DISTINCT 2, (x->>'name') || '=' || (x->>'value'), g.reach FROM jsonb_array_elements(CASE WHEN jsonb_typeof(g.tags) = 'array' THEN g.tags ELSE '[]' END) x
		UNION ALL SELECT c.kind, CASE c.kind WHEN 6 THEN '' ELSE x.key END, x.n FROM (
			SELECT d AS key, count(*) AS n FROM unnest(g.destinations) d WHERE g.type = 'email.sent' GROUP BY d
			UNION ALL SELECT g.domain, g.reach WHERE g.type <> 'email.sent') x, (VALUES (3), (5), (6)) c (kind)
		UNION ALL SELECT 4, g.class, 0 WHERE g.class IS NOT NULL) k, (VALUES (0), (1)) p (placed)
), q AS MATERIALIZED (
	SELECT account_id, placed, kind, start, domain_id, api_key_id, template_id, automation_id, key,
		coalesce(sum(facts) FILTER (WHERE type = 'email.sent'), 0)::bigint AS accepted, coalesce(sum(facts * n) FILTER (WHERE type = 'email.sent'), 0)::bigint AS recipients,
		coalesce(sum(facts) FILTER (WHERE type = 'email.delivered'), 0)::bigint AS delivered, coalesce(sum(facts) FILTER (WHERE type = 'email.delivery_delayed'), 0)::bigint AS delayed,
		coalesce(sum(facts) FILTER (WHERE type = 'email.bounced'), 0)::bigint AS bounced,
		coalesce(sum(facts * CASE WHEN one OR kind > 2 THEN 1 ELSE n END) FILTER (WHERE type = 'email.failed'), 0)::bigint AS failed,
		coalesce(sum(facts) FILTER (WHERE type = 'email.complained'), 0)::bigint AS complained, coalesce(sum(facts) FILTER (WHERE type = 'email.opened'), 0)::bigint AS opened,
		coalesce(sum(facts) FILTER (WHERE type = 'email.clicked'), 0)::bigint AS clicked, coalesce(sum(facts) FILTER (WHERE type = 'contact.unsubscribed'), 0)::bigint AS unsubscribed,
		coalesce(sum(facts) FILTER (WHERE type = 'email.suppressed'), 0)::bigint AS suppressed
	  FROM k GROUP BY account_id, placed, kind, start, domain_id, api_key_id, template_id, automation_id, key
), l AS MATERIALIZED (
	SELECT account_id, placed, kind, start, domain_id, api_key_id, template_id, automation_id, key, bin, sum(facts)::bigint AS recipients
	  FROM k WHERE bin IS NOT NULL GROUP BY account_id, placed, kind, start, domain_id, api_key_id, template_id, automation_id, key, bin
), b AS MATERIALIZED (
	SELECT account_id, date_trunc('hour', created_at, 'UTC') AS start, domain_id, api_key_id, template_id, automation_id, class,
		coalesce(bounce->>'enhanced_code', '') AS enhanced_code, coalesce(bounce->>'remote_mta', '') AS host, ` + sign + `count(*) AS recipients,
		max(subject_id) AS email_id
	  FROM e WHERE class IS NOT NULL GROUP BY account_id, date_trunc('hour', created_at, 'UTC'), domain_id, api_key_id, template_id, automation_id, class,
		coalesce(bounce->>'enhanced_code', ''), coalesce(bounce->>'remote_mta', '')
)`
}

var binSQL = fmt.Sprintf(`least(greatest(floor(ln(greatest(extract(epoch FROM f.created_at - m.sent_at), 0.001)::float8 / %[1]v) / ln(%[2]v::float8)), 0), %[3]d)::int`, firstBin, widening, lastBin)

// The stretches that are kept, in minutes. Fortnights only help to find the largest of very many
// recipients' domains.
const (
	usualGrains = `(15, interval '15 minutes'), (60, interval '1 hour'), (1440, interval '1 day')`
	grains      = `(VALUES ` + usualGrains + `) g (grain, width)`
	allGrains   = `(VALUES ` + usualGrains + `, (20160, interval '14 days')) g (grain, width)`
)

// addSQL adds what the selection has to the tables. Rows are written in the order of their keys, so that
// two who add do not wait for one another in a circle.
func addSQL(selection, sign string) string {
	const dims = `domain_id, api_key_id, template_id, automation_id, key`
	const origin = `timestamptz '0001-01-01 00:00:00Z'` // as time.Truncate has it
	return `WITH ` + factsSQL(selection, sign) + `, ` + receivedFactsSQL(selection, sign) + `, incoming AS (
	` + receivedByGrain + `
), counts AS (
	INSERT INTO statistics AS s (account_id, grain, placed, kind, start, ` + dims + `, accepted, recipients, delivered, delayed, bounced, failed, complained, opened, clicked, unsubscribed, suppressed)
	SELECT account_id, grain, placed, kind, date_bin(width, start, ` + origin + `), ` + dims + `, sum(accepted), sum(recipients), sum(delivered), sum(delayed), sum(bounced),
		sum(failed), sum(complained), sum(opened), sum(clicked), sum(unsubscribed), sum(suppressed)
	  FROM q, ` + allGrains + ` WHERE grain <= 1440 OR kind = 5 GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
	ON CONFLICT (account_id, grain, placed, kind, start, ` + dims + `) DO UPDATE SET accepted = s.accepted + excluded.accepted, recipients = s.recipients + excluded.recipients,
		delivered = s.delivered + excluded.delivered, delayed = s.delayed + excluded.delayed, bounced = s.bounced + excluded.bounced, failed = s.failed + excluded.failed,
		complained = s.complained + excluded.complained, opened = s.opened + excluded.opened, clicked = s.clicked + excluded.clicked,
		unsubscribed = s.unsubscribed + excluded.unsubscribed, suppressed = s.suppressed + excluded.suppressed
), latencies AS (
	INSERT INTO statistics_latencies AS s (account_id, grain, placed, kind, start, ` + dims + `, bin, recipients)
	SELECT account_id, grain, placed, kind, date_bin(width, start, ` + origin + `), ` + dims + `, bin, sum(recipients)
	  FROM l, ` + grains + ` GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	ON CONFLICT (account_id, grain, placed, kind, start, ` + dims + `, bin) DO UPDATE SET recipients = s.recipients + excluded.recipients
)
INSERT INTO statistics_reasons AS s (account_id, start, domain_id, api_key_id, template_id, automation_id, class, enhanced_code, host, recipients, email_id)
SELECT account_id, start, domain_id, api_key_id, template_id, automation_id, class, enhanced_code, host, recipients, email_id FROM b
 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9
ON CONFLICT (account_id, start, domain_id, api_key_id, template_id, automation_id, class, enhanced_code, host)
	DO UPDATE SET recipients = s.recipients + excluded.recipients, email_id = excluded.email_id`
}

const (
	createMarkSQL = `INSERT INTO statistics_marks (id, fact_id) SELECT 1, coalesce(min(id), '') FROM facts ON CONFLICT (id) DO NOTHING`

	lockMarkSQL = `SELECT fact_id FROM statistics_marks WHERE id = 1 FOR UPDATE SKIP LOCKED`

	// Keepers do not wait for one another.
	holdMarkSQL = `SELECT fact_id FROM statistics_marks WHERE id = 1 FOR SHARE`

	moveMarkSQL = `UPDATE statistics_marks SET fact_id = $1 WHERE id = 1`

	// aboutSQL selects what is known of emails and not counted yet.
	aboutSQL = `f.account_id = $1 AND f.subject_id = ANY($2) AND f.id >= $3`

	// stretchSQL gives the id after a stretch of facts, empty for the last one.
	stretchSQL = `SELECT coalesce((SELECT id FROM facts WHERE id >= $1 AND id < $2 ORDER BY id OFFSET $3 LIMIT 1), '')`
)

var (
	countSQL = addSQL(`f.id >= $1 AND f.id < $2`, "+")
	keepSQL  = addSQL(aboutSQL, "+")
	leaveSQL = addSQL(aboutSQL, "-")
)

// stretch is how many facts are counted in one transaction.
const stretch = 20_000

// Count counts the facts up to the horizon. It may run in several processes: one of them has the mark.
func (s *Service) Count(ctx context.Context) error {
	horizon, err := s.facts.Horizon(ctx)
	if err != nil {
		return fmt.Errorf("statistics: %w", err)
	}
	if _, err := s.db.SQL.ExecContext(ctx, createMarkSQL); err != nil {
		return fmt.Errorf("statistics: %w", err)
	}
	for more := true; more; {
		err := s.db.InHotTx(ctx, func(tx *sql.Tx) error {
			more, err = countStretch(ctx, tx, horizon)
			return err
		})
		if err != nil {
			return fmt.Errorf("statistics: %w", err)
		}
	}
	return nil
}

func countStretch(ctx context.Context, tx db.Execer, horizon time.Time) (more bool, err error) {
	from, err := db.One(ctx, tx, db.Value[string], lockMarkSQL)
	if errors.Is(err, sql.ErrNoRows) { // another process has it
		return false, nil
	}
	end := id.Since(id.Fact, horizon)
	if err != nil || end <= from {
		return false, err
	}
	to, err := db.One(ctx, tx, db.Value[string], stretchSQL, from, end, stretch)
	if err != nil {
		return false, err
	}
	if more = to != ""; !more {
		to = end
	}
	if _, err := tx.ExecContext(ctx, countSQL, from, to); err != nil {
		return false, err
	}
	_, err = tx.ExecContext(ctx, moveMarkSQL, to)
	return more, err
}

// Keep counts what is known of emails, sent or received, that tx is about to delete, as far as it was not
// counted.
func (s *Service) Keep(ctx context.Context, tx db.Execer, accountID string, emailIDs ...string) error {
	mark, err := heldMark(ctx, tx)
	if err == nil {
		_, err = tx.ExecContext(ctx, keepSQL, accountID, db.Array(emailIDs), mark)
	}
	if err != nil {
		return fmt.Errorf("keep statistics: %w", err)
	}
	return nil
}

// Around has a part of what is known of emails deleted by a change within tx, as when one of several
// recipients is erased. All that was not counted yet is counted before, and taken off again after it
// is what is still there, whose turn comes: what the change has deleted stays counted.
func (s *Service) Around(ctx context.Context, tx db.Execer, accountID string, emailIDs []string, change func() error) error {
	mark, err := heldMark(ctx, tx)
	if err == nil {
		_, err = tx.ExecContext(ctx, keepSQL, accountID, db.Array(emailIDs), mark)
	}
	if err != nil {
		return fmt.Errorf("keep statistics: %w", err)
	}
	if err := change(); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, leaveSQL, accountID, db.Array(emailIDs), mark); err != nil {
		return fmt.Errorf("keep statistics: %w", err)
	}
	return nil
}

// heldMark gives the mark, which stands still until the end of tx. Empty: nothing was ever counted.
func heldMark(ctx context.Context, tx db.Execer) (string, error) {
	mark, err := db.All(ctx, tx, db.Value[string], holdMarkSQL)
	return append(mark, "")[0], err
}
