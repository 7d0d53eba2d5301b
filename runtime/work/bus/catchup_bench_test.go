package bus

import (
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/event"
)

// BenchmarkCatchUp measures the cost of a scan over POSTRIDER_BENCH_FACTS facts of a week (make bench-bus: ten
// million). One fact in a thousand is a bounce, and the group that restricts accounts wants one account in ten.
func BenchmarkCatchUp(b *testing.B) {
	facts := 100_000
	if given, err := strconv.Atoi(os.Getenv("POSTRIDER_BENCH_FACTS")); err == nil {
		facts = given
	}
	address := dbtest.URL(b)
	d, err := db.Open(b.Context(), db.Config{URL: address}, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	patient, err := sql.Open("postgres", address) // whose statements may take longer than those of the service
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := errors.Join(patient.Close(), d.Close()); err != nil {
			b.Error(err)
		}
	})
	fill(b, patient, facts)
	fewTypes := Consumer{Group: "few-types", Types: []event.Type{event.EmailBounced}}
	fewAccounts := Consumer{Group: "few-accounts", Types: []event.Type{event.EmailSent, event.EmailBounced},
		Wants: func(account string) bool { return strings.HasSuffix(account, "0") }}
	both := []Consumer{fewTypes, fewAccounts}
	plans := map[string]string{}
	b.Cleanup(func() { // printed after the figures
		for _, name := range slices.Sorted(maps.Keys(plans)) {
			fmt.Printf("\n%s\n%s", name, plans[name])
		}
	})
	look := func(name string, groups []Consumer, prepare string, args ...any) {
		for _, c := range groups {
			b.Run(name+"/"+c.Group, func(b *testing.B) {
				g := newGroup(New(d, slog.New(slog.DiscardHandler), Options{CatchUp: time.Hour}), c)
				args := append([]any{c.Group}, args...)
				execute(b, patient, `TRUNCATE bus_messages, bus_handled, bus_marks`)
				execute(b, patient, `INSERT INTO bus_marks (consumer, until_id, types) VALUES ($1, '', $2)`, c.Group, typeNames(c))
				defer workOff(b, patient)()
				for range b.N {
					b.StopTimer()
					execute(b, patient, prepare, args...)
					execute(b, patient, `UPDATE bus_marks SET looked_at = now() - interval '1 day'`)
					b.StartTimer()
					if more, err := g.scanFacts(b.Context(), false); err != nil || more {
						b.Fatalf("the scan ended with more: %t, %v", more, err)
					}
				}
				b.StopTimer()
				execute(b, patient, prepare, args...)
				execute(b, patient, `UPDATE bus_marks SET looked_at = now() - interval '1 day'`)
				plans[b.Name()] = explain(b, d, g)
			})
		}
	}
	const back = `UPDATE bus_marks SET until_id = (SELECT id FROM facts ORDER BY id DESC OFFSET %d LIMIT 1) WHERE consumer = $1`
	look("nothing-new", both, `UPDATE bus_marks SET until_id = $2 WHERE consumer = $1`, id.Since(id.Fact, time.Now().Add(-time.Second)))
	look("5000-new-handled", both, `WITH mark AS (`+fmt.Sprintf(back, 4999)+`)
		INSERT INTO bus_handled (consumer, first_id, last_id, fact_ids)
		SELECT $1, min(id), max(id), array_agg(id) FROM (SELECT id, row_number() OVER (ORDER BY id DESC) AS n FROM (SELECT id FROM facts ORDER BY id DESC LIMIT 5000) f) f GROUP BY n / 50`)
	look("5000-new-lost", both, `WITH mark AS (`+fmt.Sprintf(back, 4999)+`) DELETE FROM bus_messages WHERE consumer = $1`)
	look("all", []Consumer{fewTypes}, `UPDATE bus_marks SET until_id = '' WHERE consumer = $1`)
}

// workOff simulates the group: it removes messages until the returned function is called, so that there is
// room for more.
func workOff(b *testing.B, d *sql.DB) (stop func()) {
	ending := make(chan struct{})
	var working sync.WaitGroup
	working.Go(func() {
		for {
			select {
			case <-ending:
				return
			case <-time.After(5 * time.Millisecond):
				if _, err := d.ExecContext(b.Context(), `DELETE FROM bus_messages`); err != nil {
					b.Error(err)
					return
				}
			}
		}
	})
	return func() { close(ending); working.Wait() }
}

func execute(b testing.TB, d *sql.DB, query string, args ...any) {
	b.Helper()
	if _, err := d.ExecContext(b.Context(), query, args...); err != nil {
		b.Fatalf("the statement %s failed: %v", query, err)
	}
}

// fill stores facts of the last week, in batches.
func fill(b testing.TB, d *sql.DB, n int) {
	b.Helper()
	const some = 100_000
	insert := `INSERT INTO facts (id, account_id, type, subject_id, data, created_at)
		SELECT ` + idOfMilliseconds() + ` || lpad(i::text, 16, '0'), 'acc_' || i % 1000,
			CASE WHEN i % 1000 = 7 THEN 'email.bounced' WHEN i % 2 = 0 THEN 'email.sent' ELSE 'email.delivered' END,
			'msg_' || lpad((i / 2)::text, 26, '0'), '{"email_id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "subject": "Your receipt", "status": "sent"}', now()
		FROM (SELECT i, (extract(epoch FROM now() - interval '10 seconds') * 1000 - ($3 - i) * (604800000.0 / $3))::bigint AS ms FROM generate_series($1::bigint, $2::bigint) i) f`
	begin := time.Now()
	for from := 1; from <= n; from += some {
		execute(b, d, insert, from, min(n, from+some-1), n)
	}
	b.Logf("stored %d facts in %s", n, time.Since(begin).Round(time.Second))
}

// explain returns the plan of the catch-up query.
func explain(b *testing.B, d *db.DB, g *group) string {
	b.Helper()
	var plan strings.Builder
	horizon, err := (&Log{d}).Horizon(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	err = d.InHotTx(b.Context(), func(tx *sql.Tx) error {
		row, ok, err := g.lockMark(b.Context(), tx, time.Hour)
		if err != nil || !ok {
			return fmt.Errorf("claim the mark: %w", err)
		}
		rows, err := tx.QueryContext(b.Context(), "EXPLAIN (ANALYZE, BUFFERS) "+selectOpen, g.name, row.until,
			id.Since(id.Fact, horizon), typeNames(g.consumer), stretchSize)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return err
			}
			plan.WriteString(line + "\n")
		}
		return rows.Err()
	})
	if err != nil {
		b.Fatal(err)
	}
	return plan.String()
}
