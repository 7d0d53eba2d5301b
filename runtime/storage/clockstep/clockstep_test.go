package clockstep

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// watching is a Watch with its effects.
type watching struct {
	*Watch

	log      *expect.Log
	repaired int
	fail     error // error of the repair
}

func newWatching(d *db.DB) *watching {
	w := &watching{log: &expect.Log{}}
	w.Watch = New(Params{DB: d, Logger: slog.New(slog.NewTextHandler(w.log, nil))})
	w.Add(Repair{What: "rows", Run: func(context.Context, Step) (int64, error) {
		w.repaired++
		return 3, w.fail
	}})
	return w
}

func (w *watching) mustRecord(t *testing.T) {
	t.Helper()
	if err := w.recordTime(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// observe returns readings of a clock that stepped back by that much between two beats.
func (w *watching) observe(by time.Duration) {
	now := time.Now()
	w.Observe(now, now, now)
	next := now.Add(2 * time.Second)
	w.Observe(next, next, next.Add(-by))
}

func TestStepIsReportedOnceAndRepaired(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]func(t *testing.T, d *db.DB, w *watching){
		"while a process runs": func(_ *testing.T, _ *db.DB, w *watching) { w.observe(time.Hour) },
		"while none ran": func(t *testing.T, d *db.DB, _ *watching) {
			t.Helper()
			dbtest.Exec(t, d, `UPDATE database_clocks SET seen_at = now() + interval '1 hour'`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dbtest.New(t)
			w := newWatching(d)
			registry := prometheus.NewRegistry()
			if err := w.Register(registry); err != nil {
				t.Fatal(err)
			}
			w.mustRecord(t)
			if w.repaired != 0 || w.Latest() != nil || w.log.String() != "" {
				t.Fatalf("without a step, %d were repaired, the latest is %v, and the log is %q", w.repaired,
					w.Latest(), w.log)
			}
			step(t, d, w)
			for range 3 {
				w.mustRecord(t)
			}
			latest := w.Latest()
			if latest == nil || (latest.By-time.Hour).Abs() > time.Minute || time.Since(latest.At).Abs() > time.Minute {
				t.Fatalf("the latest step is %v, want one of an hour", latest)
			}
			if n := strings.Count(w.log.String(), "stepped back"); w.repaired != 1 || n != 1 ||
				!strings.Contains(w.log.String(), "what=rows count=3") {
				t.Errorf("repaired %d times and reported %d times, want once each:\n%s", w.repaired, n, w.log)
			}
			if got, err := Read(t.Context(), d.SQL); err != nil || got == nil || got.By != latest.By {
				t.Errorf("the database has the step %v, %v; want %v", got, err, latest)
			}
			families, err := registry.Gather()
			if err != nil || len(families) != 1 ||
				time.Duration(families[0].GetMetric()[0].GetGauge().GetValue()*float64(time.Second)) != latest.By {
				t.Errorf("the registry has the metrics %v, %v", families, err)
			}
			dbtest.Exec(t, d, `UPDATE database_clocks SET stepped_at = stepped_at - interval '25 hours'`)
			if w.mustRecord(t); w.Latest() != nil {
				t.Errorf("after a day, the latest step is %v, want none", w.Latest())
			}
		})
	}
}

// Repairs that failed are repeated until they succeed, by this process or by the next one.
func TestNextProcessRepairsStep(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	w, next := newWatching(d), newWatching(d)
	w.mustRecord(t)
	w.observe(time.Hour)
	w.fail = errors.New("the database has gone")
	for range 2 {
		if err := w.recordTime(t.Context()); !errors.Is(err, w.fail) {
			t.Errorf("got the error %v, want the error of the repair", err)
		}
	}
	if next.mustRecord(t); next.repaired != 1 {
		t.Errorf("the next process repaired %d times, want once", next.repaired)
	}
	w.fail = nil
	if w.mustRecord(t); w.repaired != 2 {
		t.Errorf("repaired %d times although the step is settled, want 2", w.repaired)
	}
}

// Several processes observe a step within seconds, but it is recorded once.
func TestOneStepIsRecordedOnce(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	one, two := newWatching(d), newWatching(d)
	one.mustRecord(t)
	one.observe(time.Hour)
	two.observe(time.Hour - time.Second)
	one.mustRecord(t)
	two.mustRecord(t)
	if one.Latest() == nil || two.Latest() == nil || *one.Latest() != *two.Latest() || one.repaired != 1 ||
		two.repaired != 0 {
		t.Errorf("the steps are %v and %v, repaired %d and %d times", one.Latest(), two.Latest(), one.repaired,
			two.repaired)
	}
	if !strings.Contains(two.log.String(), "stepped back") {
		t.Errorf("the log of the second process is %q, want it to report the step too", two.log)
	}
}

// A clock that is slowly adjusted, jumps forward, or is read late has not stepped back.
func TestOtherReadingsAreNotSteps(t *testing.T) {
	t.Parallel()
	w := New(Params{Logger: slog.New(slog.DiscardHandler)})
	now := time.Now()
	w.Observe(now, now, now)
	for i, c := range []struct{ sent, answered, seen time.Duration }{
		{2 * time.Second, 2 * time.Second, 1900 * time.Millisecond}, // slower
		{4 * time.Second, 9 * time.Second, 4 * time.Second},         // answered late
		{10 * time.Second, 10 * time.Second, time.Hour},             // forward
		{12 * time.Second, 12 * time.Second, time.Hour + time.Second},
	} {
		w.Observe(now.Add(c.sent), now.Add(c.answered), now.Add(c.seen))
		if w.observed != 0 {
			t.Errorf("the reading %d counts as a step of %s", i, w.observed)
		}
	}
	now = now.Add(14 * time.Second)
	if w.Observe(now, now, now); w.observed < time.Hour-time.Minute {
		t.Errorf("a step back of an hour counts as %s", w.observed)
	}
}
