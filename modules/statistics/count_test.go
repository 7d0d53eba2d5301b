package statistics

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func TestBatchSizeAdaptsToDuration(t *testing.T) {
	t.Parallel()
	timeout := &pq.Error{Code: "57014"}
	p := newPace()
	for range 5 {
		p.took(batchShort / 2)
	}
	if p.size != batchMost {
		t.Errorf("after fast batches, the size is %d, want %d", p.size, batchMost)
	}
	p.took((batchShort + batchLong) / 2)
	if p.size != batchMost {
		t.Errorf("a batch of the right duration changed the size to %d", p.size)
	}
	p.took(2 * batchLong)
	if p.size != batchMost/2 {
		t.Errorf("after a slow batch, the size is %d, want half", p.size)
	}
	for n := 0; p.size > 1; n++ {
		if poison := p.recordFailure(timeout); poison || n > 10 {
			t.Fatalf("a batch of %d events that timed out was skipped: %t, after %d attempts", p.size, poison, n)
		}
	}
	for range 2 * poisonAfter {
		if p.recordFailure(timeout) {
			t.Fatal("an event was skipped because the database is slow")
		}
	}
	for n := range poisonAfter {
		if poison := p.recordFailure(errors.New("cannot be counted")); poison != (n == poisonAfter-1) {
			t.Errorf("after failure %d of one event, skipped is %t", n+1, poison)
		}
	}
}

// storeMail stores n emails of the first account, each to a different domain, and their results within a
// minute.
func (tr *traffic) storeMail(n int, at time.Time) {
	tr.t.Helper()
	email := func(prefix id.Prefix, suffix string) string {
		return fmt.Sprintf(`'%s' || lpad(n::text, 8, '0') || '%s'`, id.Since(prefix, at)[:len(id.Since(prefix, at))-9],
			suffix)
	}
	when := fmt.Sprintf(`timestamptz '%s' + n * interval '1 minute' / %d`, at.Format(time.RFC3339), n)
	for _, statement := range []string{
		`INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", subject, tags, message_id, attachment_count, unsubscribe, status, last_event, created_at, sent_at)
		SELECT ` + email(id.Email, "0") + `, $1, 'dom_a', 'a@a.example', 'a@a.example', '[]', 's', '[]', 'm', 0, false, 'sent', 'email.sent', ` + when + `, ` + when + ` FROM generate_series(1, $2) n`,
		`INSERT INTO recipients (email_id, account_id, kind, address, destination, state, created_at)
		SELECT ` + email(id.Email, "0") + `, $1, 'to', 'u@d' || n || '.example', 'd' || n || '.example', 'delivered', ` + when + ` FROM generate_series(1, $2) n`,
		`INSERT INTO facts (id, account_id, type, subject_id, data, created_at)
		SELECT ` + email(id.Fact, "0") + `, $1, 'email.sent', ` + email(id.Email, "0") + `, '{}', ` + when + ` FROM generate_series(1, $2) n UNION ALL
		SELECT ` + email(id.Fact, "1") + `, $1, 'email.delivered', ` + email(id.Email, "0") + `, jsonb_build_object('recipient', 'u@d' || n || '.example'), ` + when + ` FROM generate_series(1, $2) n`,
	} {
		tr.exec(statement, tr.account[0], n)
	}
	tr.exec(`ANALYZE emails, recipients, facts`)
}

// Emails to different domains used to cause 26 rows each, in one statement that always timed out.
func TestMailToManyDomainsIsCounted(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 21)
	const emails = 3000
	at := time.Now().UTC().Truncate(24 * time.Hour).Add(-12 * time.Hour)
	tr.storeMail(emails, at)
	tr.horizon.at = at.Add(time.Hour)
	tr.batch.size = 700
	if err := tr.Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	if is, err := ReadState(t.Context(), tr.db.SQL); err != nil || is != (CountingState{}) {
		t.Errorf("after counting, the state is %+v (%v), want no uncounted events", is, err)
	}
	rows, err := db.One(t.Context(), tr.db.SQL, db.Value[int], `SELECT count(*) FROM statistics_days`)
	if err != nil || rows > 1500 {
		t.Errorf("%d emails to as many domains caused %d rows for one day (%v), want at most 1,500", emails, rows, err)
	}
	q := Question{Range: between(at.Add(-time.Hour), at.Add(time.Hour)), Interval: Day, Timezone: "UTC",
		GroupBy: ByRecipientDomain, Top: 20}
	a, err := tr.Query(t.Context(), tr.account[0], q)
	if err != nil {
		t.Fatal(err)
	}
	if a.Totals.Accepted != emails || a.Totals.Delivered != emails {
		t.Errorf("of %d delivered emails, %d count as accepted and %d as delivered", emails, a.Totals.Accepted,
			a.Totals.Delivered)
	}
	shown := int64(0)
	for _, group := range a.Groups {
		shown += group.Totals.Delivered
	}
	if len(a.Groups) != q.Top || a.Other == nil || shown+a.Other.Totals.Delivered != emails {
		t.Errorf("%d groups have %d deliveries and all others %+v, want %d in total", len(a.Groups), shown,
			a.Other, emails)
	}
}

// The planner used to estimate that a third of all facts were uncounted, and scanned the table of emails for
// them.
func TestAnswersReadBoundedTail(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 22)
	at := time.Now().UTC().Truncate(24 * time.Hour).Add(-12 * time.Hour)
	tr.storeMail(2000, at)
	tr.horizon.at = at.Add(time.Hour)
	if err := tr.Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := Question{Range: between(at.Add(-time.Hour), at.Add(12*time.Hour)), Interval: Day, Timezone: "UTC"}
	ask := func(emails int64) time.Time {
		t.Helper()
		a, err := tr.Query(t.Context(), tr.account[0], q)
		if err != nil || a.Totals.Accepted != emails {
			t.Fatalf("%d emails are counted, want %d: %v", a.Totals.Accepted, emails, err)
		}
		return a.AsOf
	}
	tr.storeMail(tailMost/2, at.Add(2*time.Hour))
	if asOf := ask(2000 + tailMost/2); time.Since(asOf) > time.Minute {
		t.Errorf("with all events in the answer, AsOf is %s", asOf)
	}
	tr.storeMail(tailMost, at.Add(3*time.Hour))
	if asOf := ask(2000 + tailMost/2); !asOf.Before(at.Add(4*time.Hour)) || asOf.Before(at.Add(2*time.Hour)) {
		t.Errorf("with more events than an answer counts, AsOf is %s, want the time of the first omitted event",
			asOf)
	}
	err := atOnce(t.Context(), tr.db.Ent, func(tx db.Execer) error {
		if _, err := readTail(t.Context(), tx, tr.account[0]); err != nil {
			return err
		}
		whole, err := db.All(t.Context(), tx, db.Value[string],
			`SELECT relname::text FROM pg_stat_xact_user_tables WHERE seq_scan > 0 AND relname IN ('emails', 'facts', 'recipients')`)
		if len(whole) > 0 {
			t.Errorf("an answer scans the tables %s", strings.Join(whole, ", "))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// An event that cannot be counted must not stop counting.
func TestUncountableEventIsSkipped(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 23)
	at := time.Now().UTC().Truncate(time.Hour).Add(-2 * time.Hour)
	tr.storeMail(50, at)
	tr.exec(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no such host'; END $$`)
	tr.exec(`CREATE TRIGGER refuse BEFORE INSERT ON statistics_reasons FOR EACH ROW EXECUTE FUNCTION refuse()`)
	m := &mail{account: tr.account[0], id: id.New(id.Email)}
	tr.happens(thing{kind: "email.bounced", at: at.Add(30 * time.Second), recipient: "a@b.example", mail: m},
		map[string]any{})
	tr.horizon.at = at.Add(time.Hour)
	for n := range poisonAfter - 1 {
		if err := tr.Count(t.Context()); err == nil {
			t.Fatalf("attempt %d to count an invalid event succeeded", n+1)
		}
		is, err := ReadState(t.Context(), tr.db.SQL)
		if err != nil || is.Behind < time.Hour || !strings.Contains(is.Error, "no such host") {
			t.Errorf("after attempt %d, the state is %+v (%v), want the delay and its cause", n+1, is, err)
		}
		condition, err := tr.health().Ask(t.Context())
		if err != nil || !condition.Degraded || condition.Figures["behind_seconds"] < 3600 {
			t.Errorf("after attempt %d, /readyz reports %+v (%v), want degraded", n+1, condition, err)
		}
	}
	if err := tr.Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	if is, err := ReadState(t.Context(), tr.db.SQL); err != nil || is.Skipped != 1 || is.Behind != 0 {
		t.Errorf("after skipping, the state is %+v (%v), want one skipped and no uncounted events", is, err)
	}
	a, err := tr.Query(t.Context(), tr.account[0], Question{Range: between(at, at.Add(time.Hour)), Interval: Hour,
		Timezone: "UTC"})
	if err != nil || a.Totals.Delivered != 50 || a.Totals.Bounced != 0 {
		t.Errorf("%d deliveries and %d bounces were counted (%v), want all but the bounce", a.Totals.Delivered,
			a.Totals.Bounced, err)
	}
}

// The statistics of an imported account contain events that are later than the mark, and may lack earlier ones.
func TestImportedEventsAreCountedOnce(t *testing.T) {
	t.Parallel()
	const all, fifteenth, fortieth = "", "15", "40" // each of 50 emails has several events
	for name, c := range map[string]struct {
		exported, here string // the email of the first uncounted event
		nothing        bool   // no events have been counted here
	}{
		"all counted, none here":      {exported: all, nothing: true},
		"all counted, some here":      {exported: all, here: fifteenth},
		"more counted than here":      {exported: fortieth, here: fifteenth},
		"fewer counted than here":     {exported: fifteenth, here: fortieth},
		"as many counted as here":     {exported: fifteenth, here: fifteenth},
		"fewer counted, all here":     {exported: fifteenth, here: all},
		"some counted, but none here": {exported: fifteenth, nothing: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTraffic(t, 29)
			at := time.Now().UTC().Truncate(time.Hour).Add(-2 * time.Hour)
			tr.storeMail(50, at)
			tr.horizon.at = at.Add(time.Hour)
			markAt := func(email string) string {
				if email == all {
					return id.Since(id.Fact, tr.horizon.at)
				}
				mark, err := db.One(t.Context(), tr.db.SQL, db.Value[string], `SELECT id FROM facts WHERE account_id = $1 ORDER BY id
OFFSET (SELECT count(*) FROM facts WHERE account_id = $1) * $2::int / 50 LIMIT 1`, tr.account[0], email)
				if err != nil {
					t.Fatal(err)
				}
				return mark
			}
			delivered := func() int64 {
				t.Helper()
				a, err := tr.Query(t.Context(), tr.account[0], Question{Range: between(at, at.Add(time.Hour)), Interval: Hour, Timezone: "UTC"})
				if err != nil {
					t.Fatal(err)
				}
				return a.Totals.Delivered
			}
			exported := markAt(c.exported)
			if _, err := countFacts(t.Context(), tr.db.SQL, rollup.Between, "f.id >= $1 AND f.id < $2", 1, "", exported); err != nil {
				t.Fatal(err)
			}
			if !c.nothing {
				tr.exec(`INSERT INTO statistics_marks (id, fact_id) VALUES (1, $1)`, markAt(c.here))
				if got := delivered(); (got == 50) != (c.exported == c.here) { // answers contain what is not counted yet
					t.Errorf("%d deliveries before the adjustment", got)
				}
			}
			given := &exported
			if c.exported == all {
				given = nil
			}
			if err := AdjustImported(t.Context(), tr.db.SQL, tr.account[0], given); err != nil {
				t.Fatal(err)
			}
			if n := dbtest.Count(t, tr.db, `SELECT count(*) FROM statistics_marks`); n != 1 {
				t.Error("there is no mark, so another process could create a later one")
			}
			if got := delivered(); got != 50 {
				t.Errorf("%d deliveries after the adjustment, want 50", got)
			}
			if err := tr.Count(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := delivered(); got != 50 {
				t.Errorf("%d deliveries were counted, want 50", got)
			}
		})
	}
}
