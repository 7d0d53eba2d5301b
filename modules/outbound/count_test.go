package outbound

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db"
)

func TestWarmUpFollowsSchedule(t *testing.T) {
	t.Parallel()
	for day, want := range map[int]int64{-3: 50, 0: 50, 1: 100, 4: 5_000, 9: 100_000} {
		if limit, warm := allowanceOn(day); limit != want || warm {
			t.Errorf("allowanceOn day %d returned %d, %v", day, limit, warm)
		}
	}
	if _, warm := allowanceOn(10); !warm {
		t.Error("the warm-up never ends")
	}
	for i := 1; i < len(warmup); i++ {
		if warmup[i] <= warmup[i-1] {
			t.Errorf("day %d does not have a larger allowance than the day before", i)
		}
	}
	w := newWorld(t)
	w.add(t, SourceInput{Address: "192.0.2.1", Pool: "shared", WarmUp: true})
	for days, want := range map[int]int64{0: 50, 2: 500, 9: 100_000, 10: 0} {
		// A day is a UTC date, not 24 hours from the start.
		w.exec(t, `UPDATE sources SET warmup_started_at = ((now() AT TIME ZONE 'UTC')::date - $1::int + time '23:59:59') AT TIME ZONE 'UTC'`, days)
		all, err := w.Sources(t.Context())
		if err != nil || len(all) != 1 || all[0].Limit != want || all[0].Warm != (want == 0) || all[0].Day != days+1 {
			t.Errorf("%d days after the start, the source is %+v, %v", days, all, err)
		}
	}
}

func TestExcessMailUsesNextPool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "192.0.2.3", Pool: "dedicated", Account: w.dedicated, WarmUp: true},
		SourceInput{Address: "192.0.2.2", Pool: "pool", WarmUp: true},
		SourceInput{Address: "192.0.2.1", Pool: "shared"})
	first := choose(t, w.Ways, 20, Question{AccountID: w.dedicated})
	count(t, w, w.Ways, first)
	second := choose(t, w.Ways, 130, Question{AccountID: w.dedicated})
	count(t, w, w.Ways, second)
	if got := tally(append(first, second...)); got["192.0.2.3"] != 50 || got["192.0.2.2"] != 50 ||
		got["192.0.2.1"] != 50 {
		t.Errorf("mail left by %v", got)
	}
	if w.counted(t, "192.0.2.3") != 50 || w.counted(t, "192.0.2.2") != 50 || w.counted(t, "192.0.2.1") != 0 {
		t.Error("the counters do not match the deliveries")
	}
	// Other processes also respect the count, and so does this one after reading it again.
	reread(t, w.Ways)
	for _, s := range []*Ways{w.Ways, w.process(t, Config{})} {
		if got := tally(choose(t, s, 5, Question{AccountID: w.dedicated})); got["192.0.2.1"] != 5 {
			t.Errorf("mail left by %v", got)
		}
	}
	// The next day has its own allowance.
	w.exec(t, `UPDATE source_days SET day = to_char((now() AT TIME ZONE 'UTC') - interval '1 day', 'YYYY-MM-DD')`)
	w.exec(t, `UPDATE sources SET warmup_started_at = warmup_started_at - interval '1 day' WHERE warmup_started_at IS NOT NULL`)
	reread(t, w.Ways)
	if got := tally(choose(t, w.Ways, 120, Question{AccountID: w.dedicated})); got["192.0.2.3"] != 100 ||
		got["192.0.2.2"] != 20 {
		t.Errorf("mail left by %v", got)
	}
}

func TestWarmWaysAreNotCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none := func() {
		t.Helper()
		if err := w.Count(t.Context(), refusing{},
			[]string{"", "192.0.2.1", "192.0.2.77", "smarthost:relay.example.com:25", "nonsense"}); err != nil {
			t.Error(err)
		}
	}
	none()
	w.add(t, SourceInput{Address: "192.0.2.1", Pool: "shared"},
		SourceInput{Address: "192.0.2.2", Pool: "shared", WarmUp: true})
	none()
	if err := w.Count(t.Context(), refusing{}, []string{"192.0.2.2"}); !errors.Is(err, errRefusing) {
		t.Errorf("Count for an address that warms up returned %v", err)
	}
}

var errRefusing = errors.New("a statement")

// refusing is a transaction that rejects every statement.
type refusing struct{ db.Execer }

func (refusing) QueryContext(context.Context, string, ...any) (*sql.Rows, error) {
	return nil, errRefusing
}

func TestUnusedAllowanceIsReturned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "192.0.2.1", Pool: "shared", WarmUp: true})
	q := Question{AccountID: w.free}
	for range 3 { // returned
		chosen := choose(t, w.Ways, 50, q)
		if got := tally(chosen); got["192.0.2.1"] != 50 {
			t.Fatalf("mail left by %v", got)
		}
		w.Return(chosen)
	}
	choose(t, w.Ways, 50, q)
	if got := choose(t, w.Ways, 1, q); got[0] != "" {
		t.Errorf("mail is sent from %s", got[0])
	}
	reread(t, w.Ways) // neither counted nor returned
	if got := tally(choose(t, w.Ways, 60, q)); got["192.0.2.1"] != 50 {
		t.Errorf("mail left by %v", got)
	}
	// After a rollback, the next read corrects the counts.
	err := w.db.InHotTx(t.Context(), func(tx *sql.Tx) error {
		return errors.Join(w.Count(t.Context(), tx, []string{"192.0.2.1"}), errRefusing)
	})
	reread(t, w.Ways)
	if got := tally(choose(t, w.Ways, 60, q)); !errors.Is(err, errRefusing) || got["192.0.2.1"] != 50 {
		t.Errorf("mail left by %v, %v", got, err)
	}
}

// Processes that only share the counters exceed an allowance by at most one claim each.
func TestProcessesShareAllowance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "192.0.2.1", Pool: "shared", WarmUp: true})
	w.exec(t, `UPDATE sources SET warmup_started_at = now() - interval '2 days'`) // 500
	const processes, claims, batch = 4, 60, 5
	var wait sync.WaitGroup
	for range processes {
		s := w.process(t, Config{})
		wait.Go(func() {
			for range claims {
				err := w.db.InHotTx(t.Context(), func(tx *sql.Tx) error {
					questions := make([]Question, batch)
					for i := range questions {
						questions[i] = Question{AccountID: w.free, Destination: "example.net"}
					}
					ways, err := s.Choose(t.Context(), questions)
					return errors.Join(err, s.Count(t.Context(), tx, labels(ways)))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if n := w.counted(t, "192.0.2.1"); n < 500 || n > 500+(processes-1)*batch {
		t.Errorf("%d deliveries left by an address with an allowance of 500", n)
	}
}

func TestChangesReachEveryProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	signals := func() Signals {
		s, err := db.NewSignals(w.db, w.log)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	by := func(s *Ways) string { return choose(t, s, 1, Question{AccountID: w.free})[0] }
	notified := []*Ways{w.process(t, Config{}, signals()), w.process(t, Config{}, signals())}
	slow := w.process(t, Config{ReadEvery: 50 * time.Millisecond}) // receives no notifications
	for i, pause := range []bool{false, true, false} {
		want := "192.0.2.1"
		if pause {
			want = ""
		}
		if i == 0 {
			if _, err := w.AddSource(t.Context(),
				SourceInput{Address: want, Hostname: "out.example.com", Pool: "shared", Unchecked: true}); err != nil {
				t.Fatal(err)
			}
		} else if _, err := w.PauseSource(t.Context(), "192.0.2.1", pause); err != nil {
			t.Fatal(err)
		}
		for n, s := range append(notified, slow) {
			expect.EventuallyWithin(t, 10*time.Second, fmt.Sprintf("change %d reached process %d", i, n),
				func() bool { return by(s) == want })
		}
	}
}
