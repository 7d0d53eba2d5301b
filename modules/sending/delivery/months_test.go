package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/months"
)

// Recipients that are due, retried, parked or cut off are claimed and settled in the same way whether they
// are in one table or in several months, and their attempts are in the same months.
func TestDeliveryFromSeveralMonths(t *testing.T) {
	t.Parallel()
	plain := newFixture(t)
	var want []string
	if split, err := months.Split(t.Context(), plain.DB.SQL, "recipients"); err != nil || !split {
		want = plain.deliverEverything(t)
	}
	f := newFixture(t)
	f.ByMonth(t)
	got := f.deliverEverything(t)
	if diff := cmp.Diff(want, got); want != nil && diff != "" {
		t.Errorf("from plain tables and from months (-want +got):\n%s", diff)
	}
	for _, table := range []string{"recipients", "attempts"} {
		if n := f.Count(t, `(SELECT DISTINCT tableoid FROM `+table+`) parts`); n != 4 {
			t.Errorf("%s are in %d months, want 4: the test does not test anything", table, n)
		}
	}
	if n := f.Count(t, `attempts a JOIN recipients r ON r.id = a.recipient_id AND r.email_id <> a.email_id`); n != 0 {
		t.Errorf("%d attempts have a different email than their recipients", n)
	}
}

// deliverEverything sends mail with one and two recipients, has it delivered, deferred, refused, returned,
// parked and handed back, and returns the outcome of each email.
func (f *fixture) deliverEverything(t *testing.T) (all []string) {
	t.Helper()
	temporary := smtpclient.Outcome{Kind: smtpclient.Temporary, Phase: smtpclient.PhaseData, Code: 451,
		Reply: "451 4.7.1 Greylisted"}
	refused := smtpclient.Outcome{Kind: smtpclient.Permanent, Phase: smtpclient.PhaseRcpt, Code: 550,
		EnhancedCode: "5.1.1", Reply: "550 5.1.1 Unknown"}
	delivered := smtpclient.Outcome{Kind: smtpclient.Delivered, Phase: smtpclient.PhaseDot, Code: 250,
		Reply: "250 2.0.0 OK"}
	var ids []string
	for i := range 12 {
		ids = append(ids, f.send(t, simpleMessage(fmt.Sprintf("one%d@example.net", i))),
			f.send(t, simpleMessage(fmt.Sprintf("two%d@example.net", i), fmt.Sprintf("three%d@example.org", i))))
	}
	jobs := f.claimExactly(t, 36)
	if held, err := f.claimer.extendLeases(t.Context(), jobs, time.Minute); err != nil || slices.Contains(held, false) {
		t.Errorf("extend: %v, %v", held, err)
	}
	of := func(prefixes ...string) (some []Job) {
		for _, j := range jobs {
			if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(j.address, p) }) {
				some = append(some, j)
			}
		}
		return some
	}
	f.settleWith(t, of("one0", "one1", "one2", "one3", "two"), delivered)
	f.settleWith(t, of("one5@", "one6", "three0", "three1", "three2", "three3"), temporary)
	f.settleWith(t, of("one7", "three4", "three5", "three6", "three7"), refused)
	if err := f.claimer.releaseJobs(t.Context(), of("one8", "three8")); err != nil {
		t.Error(err)
	}
	if err := parkAgainOf(t.Context(), f, of("one9", "three9")); err != nil {
		t.Error(err)
	}
	f.Exec(t, `UPDATE attempts SET node = 7, ahead = false WHERE outcome IS NULL`)
	if n, err := f.claimer.handBackClaimsOf(t.Context(), 7); err != nil || n == 0 {
		t.Errorf("handed back %d, %v", n, err)
	}
	f.MakeDue(t)
	f.claimer.parking.looked = time.Time{}
	for range 3 {
		jobs = f.claimAll(t)
		f.settleWith(t, jobs, delivered)
	}
	for _, id := range ids {
		e, recipients, attempts, facts := f.loadState(t, id)
		slices.Sort(facts)
		line := []string{fmt.Sprint(e.Status, e.LastEvent, facts)}
		for _, r := range recipients {
			line = append(line, fmt.Sprint(r.Address, r.State, r.Attempts, r.Fence, r.DueAt == nil))
		}
		var outcomes []string
		for _, a := range attempts {
			outcomes = append(outcomes, fmt.Sprint(a.Number, a.Fence, *a.Outcome))
		}
		slices.Sort(outcomes)
		all = append(all, fmt.Sprint(line, outcomes))
	}
	return all
}

// claimExactly claims recipients and checks their number.
func (f *fixture) claimExactly(t *testing.T, want int) []Job {
	t.Helper()
	jobs := f.claimAll(t)
	if len(jobs) != want {
		t.Fatalf("claimed %d, want %d", len(jobs), want)
	}
	return jobs
}

func parkAgainOf(ctx context.Context, f *fixture, jobs []Job) error {
	return undoClaims(ctx, f.DB.Hot, jobs, 0, labelsOf(jobs))
}

// A statement that runs for every message reads only the month of the message.
func TestStatementsReadTheMonthOfTheirMessage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ByMonth(t)
	for i := range 8 {
		f.send(t, simpleMessage(fmt.Sprintf("r%d@example.net", i)))
	}
	jobs := f.claimExactly(t, 8)[2:3]
	emails, ids, fences := fencingArgs(jobs)
	done := &finishedJob{job: jobs[0], out: smtpclient.Outcome{Kind: smtpclient.Delivered},
		factID: "evt_00000000000000000000000000"}
	conn, err := f.DB.Hot.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	none := db.Array([]string{""})
	for name, c := range map[string]struct {
		statement string
		args      []any
	}{
		"take":       {takeSQL, []any{emails, ids, none, db.Array([]bool{false}), 1, 1, 0}},
		"take again": {takeAgainSQL, []any{emails, ids, none, db.Array([]bool{false}), 1, 1, 0}},
		"extend":     {extendSQL, []any{emails, ids, fences, 1}},
		"park":       {parkSQL, []any{emails, ids, none}},
		"undo":       {undoSQL, []any{emails, ids, fences, 0, none, db.Array([]int64{0})}},
		"settle":     {settleSQL.Text, settleSQL.Args(finishedColumns.Rows([]*finishedJob{done}))},
		"tally":      {tallySQL, []any{emails}},
	} {
		tx, err := conn.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := db.All(t.Context(), tx, db.Value[string],
			`EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) `+c.statement, c.args...)
		if err != nil {
			t.Fatalf("explain %s: %v", name, errors.Join(err, tx.Rollback()))
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"recipients", "attempts"} {
			read := slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
				return !strings.Contains(line, "Scan") || !strings.Contains(line, " on "+table+"_") ||
					strings.Contains(line, "never executed")
			})
			if len(read) > 1 || table == "recipients" && len(read) != 1 {
				t.Errorf("%s reads %d months of %s:\n%s", name, len(read), table, strings.Join(lines, "\n"))
			}
		}
	}
}
