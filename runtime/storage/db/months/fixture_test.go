package months_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/db/months"
)

var discard = slog.New(slog.DiscardHandler)

// newPlainDatabase returns a database whose tables are not partitioned, even if tests run on partitioned ones.
func newPlainDatabase(t *testing.T) *db.DB {
	t.Helper()
	d := dbtest.New(t)
	for _, table := range months.Tables() {
		if !readState(t, d, table).Split {
			continue // Undo would open a connection, which takes longer than the rest of most tests
		}
		if err := months.Undo(t.Context(), d, table, discard, ignoreStep); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func ignoreStep(string) {}

func findTable(t *testing.T, name string) months.Table {
	t.Helper()
	found, err := months.FindTables(name)
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

func move(t *testing.T, d *db.DB, table months.Table) {
	t.Helper()
	if err := months.Move(t.Context(), d, table, discard, func(what string) { t.Log(what) }); err != nil {
		t.Fatal(err)
	}
}

func readState(t *testing.T, d *db.DB, table months.Table) months.TableState {
	t.Helper()
	state, err := months.ReadTableState(t.Context(), d.SQL, table)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// eachTable runs a test for each table that can be partitioned, in parallel.
func eachTable(t *testing.T, test func(t *testing.T, table months.Table)) {
	t.Helper()
	for _, table := range months.Tables() {
		t.Run(table.Name, func(t *testing.T) {
			t.Parallel()
			test(t, table)
		})
	}
}

func queryOne[T any](t *testing.T, d *db.DB, statement string, args ...any) T {
	t.Helper()
	v, err := db.One(t.Context(), d.SQL, db.Value[T], statement, args...)
	if err != nil {
		t.Fatalf("the query %s failed: %v", statement, err)
	}
	return v
}

// The rows that the tests store: an email with a recipient, which may have its email already, an attempt, a
// fact, a webhook delivery, a received email.
const (
	emailSQL = `
WITH stored AS (
	INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", cc, bcc, reply_to, headers, tags, subject, text, message_id, attachment_count, unsubscribe, status, last_event, created_at, release_at)
	VALUES ($1::text, 'acc_1', 'dom_1', 'ada@dev.test', 'ada@dev.test', '["bob@example.net"]', '[]', '[]', '[]', '[]', '[]', 'Hello', 'Hi', $1::text || '@dev.test', 0, false, 'sent', 'email.sent', now(), now())
	RETURNING id, account_id
)
INSERT INTO recipients (email_id, account_id, kind, destination, address, state, fence, attempts, created_at, queued_at, via)
SELECT id, account_id, 'to', 'example.net', 'bob@example.net', 'queued', 0, 0, now(), now(), '' FROM stored`
	recipientSQL = `
WITH stored AS (
	INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", cc, bcc, reply_to, headers, tags, subject, text, message_id, attachment_count, unsubscribe, status, last_event, created_at, release_at)
	VALUES ($1::text, 'acc_1', 'dom_1', 'ada@dev.test', 'ada@dev.test', '["bob@example.net"]', '[]', '[]', '[]', '[]', '[]', 'Hello', 'Hi', $1::text || '@dev.test', 0, false, 'sent', 'email.sent', now(), now())
	ON CONFLICT (id) DO NOTHING
)
INSERT INTO recipients (email_id, account_id, kind, destination, address, state, fence, attempts, created_at, queued_at, via) VALUES ($1, 'acc_1', 'to', 'example.net', 'bob@example.net', 'queued', 0, 0, now(), now(), '')`
	attemptSQL  = `INSERT INTO attempts (recipient_id, email_id, account_id, number, fence, started_at) VALUES (hashtextextended($1::text, 0), $1, 'acc_1', 1, 1, now())`
	factSQL     = `INSERT INTO facts (id, account_id, type, subject_id, data, created_at) VALUES ($1, 'acc_1', 'email.sent', 'msg_1', '{}', now())`
	deliverySQL = `
INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, state, attempts, replays, error, created_at)
VALUES ($1::text, 'acc_1', 'wh_1', 'evt' || substr($1::text, 4), 'email.sent', now(), 'delivered', 1, 0, '', now())`
	receivedSQL = `
WITH content AS (INSERT INTO received_contents (account_id, size, data) VALUES ('acc_1', 1, 'x') RETURNING id)
INSERT INTO received_emails (id, account_id, domain_id, content_id, rcpt_to, mail_from, "from", from_address, "to", cc, reply_to, subject, message_id, "references", authentication, spam_status, auto_submitted, size,
	attachments, defects, remote_ip, helo, tls, received_at)
SELECT $1, 'acc_1', 'dom_1', id, 'ada@dev.test', '', 'bob@example.net', 'bob@example.net', '[]', '[]', '[]', 'Hello', '', '[]', '{}', 'unknown', false, 1, '[]', '[]', '127.0.0.1', 'h', '', now() FROM content`
)

// statisticsSQL stores a row of a statistics table: the other columns get values of their types.
func statisticsSQL(table string) string {
	columns := map[string][2]string{
		"statistics_days": {`kind, key, domain_id, api_key_id, template_id, automation_id, event_size, email_size, domains, tags, sender_domains, sender_tags, event_figures, event_latencies, email_figures, email_latencies`,
			`0, '', '', '', '', '', 0, 0, 0, 0, 0, 0, '', '', '', ''`},
		"statistics_months": {`kind, key, domain_id, api_key_id, template_id, automation_id, event_size, email_size, event_figures, event_latencies, email_figures, email_latencies, event_hours, event_hour_latencies,
			email_hours, email_hour_latencies, event_days, event_day_latencies, email_days, email_day_latencies`, `0, '', '', '', '', '', 0, 0, '', '', '', '', '', '', '', '', '', '', '', ''`},
		"statistics_reasons":  {`domain_id, api_key_id, template_id, automation_id, class, enhanced_code, host, recipients, email_id`, `'', '', '', '', '', '', '', 1, ''`},
		"statistics_received": {`grain, kind, domain_id, ham, spam, unknown, ham_octets, spam_octets, unknown_octets`, `15, 0, '', 1, 0, 0, 1, 0, 0`},
	}[table]
	return `INSERT INTO ` + table + ` (account_id, start, ` + columns[0] + `) VALUES ('acc_1', $1, ` + columns[1] + `)`
}

func storeSQL(table months.Table) string {
	if table.Prefix == "" {
		return statisticsSQL(table.Name)
	}
	return map[string]string{"emails": emailSQL, "facts": factSQL, "webhook_deliveries": deliverySQL,
		"received_emails": receivedSQL, "recipients": recipientSQL, "attempts": attemptSQL}[table.Name]
}

// lastRow is the microsecond of the last row of statistics, which differs for each of them.
var lastRow atomic.Int64

// newRow returns the value of a row created now.
func newRow(table months.Table) string {
	if table.Prefix == "" {
		for {
			last := lastRow.Load()
			if now := max(time.Now().UnixMicro(), last+1); lastRow.CompareAndSwap(last, now) {
				return keyAt(table, time.UnixMicro(now), 0)
			}
		}
	}
	return id.New(table.Prefix)
}

// keyAt returns the key value for a time, the nth of its millisecond.
func keyAt(table months.Table, when time.Time, n int) string {
	if table.Prefix == "" {
		return when.UTC().Truncate(time.Microsecond).Add(time.Duration(n) * time.Microsecond).Format(time.RFC3339Nano)
	}
	low := table.SmallestKey(when)
	return fmt.Sprintf("%s%06d", low[:len(low)-6], n)
}

// store stores a row with an id.
func store(t *testing.T, d *db.DB, table months.Table, rowID string) {
	t.Helper()
	dbtest.Exec(t, d, storeSQL(table), rowID)
}

// placeOf returns the partition that contains a row.
func placeOf(t *testing.T, d *db.DB, table months.Table, rowID string) string {
	t.Helper()
	return queryOne[string](t, d, `SELECT tableoid::regclass::text FROM `+table.Name+` WHERE `+table.Column+` = $1`, rowID)
}

// explain returns the plan of a statement.
func explain(ctx context.Context, t *testing.T, on db.Execer, statement string, args ...any) string {
	t.Helper()
	lines, err := db.All(ctx, on, db.Value[string], `EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) `+
		statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
