package statistics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/modules/statistics/store"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// runs stores a run with its facts, and returns its id.
func (tr *traffic) runs(account, automation string, started time.Time) string {
	tr.t.Helper()
	started = started.Truncate(time.Microsecond)
	run := &mail{account: account, id: id.New(id.Run)}
	var goalUntil *time.Time
	if tr.dice.IntN(3) > 0 {
		until := started.AddDate(0, 0, 7)
		goalUntil = &until
	}
	tr.exec(`INSERT INTO automation_runs (id, account_id, automation_id, version, event_id, event, status, step_index, error, depth, started_at, goal_until)
		VALUES ($1, $2, $3, 1, $4, '{}', 'completed', 0, '', 0, $5, $6)`, run.id, account, automation, id.New(id.CustomEvent), started, goalUntil)
	reports := func(kind string, at time.Time) {
		tr.happens(thing{kind: kind, at: at.Truncate(time.Microsecond), mail: run},
			map[string]any{"automation_id": automation})
	}
	later := func() time.Time { return started.Add(time.Duration(tr.dice.Int64N(int64(30 * time.Hour)))) }
	reports("automation.started", started)
	switch tr.dice.IntN(5) {
	case 0:
		reports("automation.failed", later())
		reports("automation.completed", later()) // after a retry
	case 1:
		reports("automation.cancelled", later())
	case 2:
		reports("automation.failed", later())
	case 3:
		reports("automation.completed", later())
	}
	if goalUntil != nil && tr.dice.IntN(2) == 0 {
		reports("automation.converted", later())
	}
	return run.id
}

// countRunsSQL counts facts by the periods of a time zone as PostgreSQL computes them.
const countRunsSQL = `
SELECT date_trunc($1, at, $2), count(*) FILTER (WHERE type = 'automation.started'),
	count(*) FILTER (WHERE type = 'automation.started' AND goal_until IS NOT NULL),
	count(*) FILTER (WHERE type = 'automation.completed'), count(*) FILTER (WHERE type = 'automation.failed'),
	count(*) FILTER (WHERE type = 'automation.cancelled'), count(*) FILTER (WHERE type = 'automation.converted')
FROM (SELECT f.type, r.goal_until, CASE WHEN $5 THEN r.started_at ELSE f.created_at END AS at
	FROM facts f JOIN automation_runs r ON r.id = f.subject_id WHERE f.account_id = $3 AND ($4 = '' OR r.automation_id = $4)) f
WHERE date_trunc($1, at, $2) >= $6 AND date_trunc($1, at, $2) < $7 GROUP BY 1`

func (tr *traffic) countRuns(account string, q RunQuestion, from, to time.Time) map[string]RunFigures {
	tr.t.Helper()
	out := map[string]RunFigures{}
	err := db.Each(tr.t.Context(), tr.db.SQL, func(row db.Row) error {
		var start time.Time
		var f RunFigures
		err := row.Scan(&start, &f.Started, &f.WithGoal, &f.Completed, &f.Failed, &f.Cancelled, &f.Converted)
		out[start.UTC().Format(time.RFC3339)] = f
		return err
	}, countRunsSQL, string(q.Interval), q.Timezone, account, q.AutomationID, q.ByStart, from, to)
	if err != nil {
		tr.t.Fatal(err)
	}
	return out
}

// Every answer about runs equals a count of the facts by PostgreSQL, across changes of the clock: before counting,
// halfway, after counting, after a rebuild and in packed months.
func TestRunsAreCounted(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 41)
	start := time.Date(2026, 10, 24, 6, 0, 0, 0, time.UTC) // clocks change in Vienna, and a week later in St. John's
	for range 160 {
		tr.runs(tr.account[tr.dice.IntN(2)], tr.pick("aut_a", "aut_b"),
			start.Add(time.Duration(tr.dice.Int64N(int64(9*24*time.Hour)))))
	}
	compare := func(what string) {
		t.Helper()
		for range 30 {
			since := start.Add(time.Duration(tr.dice.IntN(200)) * time.Hour)
			q := RunQuestion{Range: between(since, since.Add(time.Duration(1+tr.dice.IntN(90))*time.Hour)),
				Interval: []Interval{Hour, Day, Week, Month}[tr.dice.IntN(4)],
				Timezone: tr.pick("UTC", "America/St_Johns", "Asia/Kathmandu", "Europe/Vienna"),
				ByStart:  tr.dice.IntN(2) == 0, AutomationID: tr.pick("", "aut_a", "aut_b", "aut_of_nobody")}
			account := tr.account[tr.dice.IntN(2)]
			a, err := tr.QueryRuns(t.Context(), account, q)
			if err != nil {
				t.Fatalf("%s: the question %+v returned the error %v", what, q, err)
			}
			axis, _, err := Question{Range: q.Range, Interval: q.Interval, Timezone: q.Timezone}.plan()
			if err != nil {
				t.Fatal(err)
			}
			got, sum := map[string]RunFigures{}, RunFigures{}
			for _, b := range a.Buckets {
				if f := b.Figures; f != (RunFigures{}) {
					got[b.Start.Format(time.RFC3339)] = f
					sum = RunFigures{sum.Started + f.Started, sum.WithGoal + f.WithGoal, sum.Completed + f.Completed,
						sum.Failed + f.Failed, sum.Cancelled + f.Cancelled, sum.Converted + f.Converted}
				}
			}
			if diff := cmp.Diff(tr.countRuns(account, q, axis.Begin(), axis.End), got); diff != "" || sum != a.Totals {
				t.Fatalf("%s: %+v: totals %+v, sum %+v; expected (-) and actual (+):\n%s", what, q, a.Totals, sum, diff)
			}
		}
	}
	count := func(at time.Time) {
		t.Helper()
		tr.horizon.at = at
		for range 2 {
			if err := tr.Count(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	count(start.Add(5 * 24 * time.Hour))
	compare("half counted")
	count(start.AddDate(0, 0, 20))
	compare("counted")
	tr.exec(`DELETE FROM statistics_days WHERE kind = $1`, int(rollup.Runs)) // as before an upgrade
	if err := tr.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	compare("rebuilt")
	if err := store.Pack(t.Context(), tr.db, start.AddDate(0, 2, 0)); err != nil {
		t.Fatal(err)
	}
	compare("packed")
}

// The facts about a run that is erased stay counted, exactly once.
func TestErasedRunsStayCounted(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 42)
	at := time.Date(2026, 11, 3, 10, 20, 0, 0, time.UTC)
	var gone []string
	for n := range 40 {
		if run := tr.runs(tr.account[0], "aut_a", at); n%2 == 0 {
			gone = append(gone, run)
		}
	}
	ask := func() RunFigures {
		t.Helper()
		a, err := tr.QueryRuns(t.Context(), tr.account[0], RunQuestion{Range: between(at, at.Add(72*time.Hour)),
			Interval: Day, Timezone: "UTC", AutomationID: "aut_a"})
		if err != nil {
			t.Fatal(err)
		}
		return a.Totals
	}
	want := ask()
	tx, err := tr.db.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Keep(t.Context(), tx, tr.account[0], gone...); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{`DELETE FROM automation_runs WHERE id = ANY($1)`, `DELETE FROM facts WHERE subject_id = ANY($1)`} {
		if _, err := tx.ExecContext(t.Context(), statement, db.Array(gone)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, ask()); diff != "" || want.Started != 40 {
		t.Errorf("figures of 40 runs before (-) and after (+) half of them were erased:\n%s", diff)
	}
	tr.horizon.at = at.AddDate(0, 0, 9)
	if err := tr.Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, ask()); diff != "" {
		t.Errorf("figures before (-) and after (+) counting:\n%s", diff)
	}
}

func TestRunQuestionsAreValidated(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 43)
	at := time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)
	for field, q := range map[string]RunQuestion{
		"timezone": {Range: between(at, at.Add(time.Hour)), Interval: Hour, Timezone: "Mars/Olympus"},
		"interval": {Range: between(at, at.Add(time.Hour)), Interval: "minute", Timezone: "UTC"},
		"range":    {Range: between(at.AddDate(-3, 0, 0), at), Interval: Hour, Timezone: "UTC"},
	} {
		_, err := tr.QueryRuns(t.Context(), tr.account[0], q)
		if f := fault.Classify(err); f.Kind != fault.Invalid || f.Fields[field] == "" || len(f.Fields) != 1 {
			t.Errorf("a wrong %s returned the error %v, want one about this field alone", field, err)
		}
	}
}
