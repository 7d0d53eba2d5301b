package faults_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/test/faults"
)

// long selects the long form of the cases: hundreds of kills instead of ten.
var long = os.Getenv("POSTRIDER_TORTURE") == "long"

// lengthOf returns the value for the current length.
func lengthOf[T any](short, torture T) T {
	if long {
		return torture
	}
	return short
}

var (
	figuresMu sync.Mutex
	figures   [][4]string // case, label, figure, wanted
)

// figure records a result for the table, and logs it.
func figure(t *testing.T, what string, value any, wanted string) {
	t.Helper()
	if d, is := value.(time.Duration); is {
		value = d.Round(time.Millisecond)
	}
	t.Logf("%s: %v (wanted: %s)", what, value, wanted)
	figuresMu.Lock()
	defer figuresMu.Unlock()
	figures = append(figures, [4]string{t.Name(), what, fmt.Sprint(value), wanted})
}

func TestMain(m *testing.M) {
	flag.Parse()
	if !long { // most of the time is spent waiting: for leases, and for outages to last
		if err := flag.Set("test.parallel", "6"); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	if long {
		slices.SortStableFunc(figures, func(a, b [4]string) int { return strings.Compare(a[0], b[0]) })
		fmt.Printf("\n%-44s %-54s %14s   %s\n", "case", "figure", "reached", "wanted")
		for _, f := range figures {
			fmt.Printf("%-44s %-54s %14s   %s\n", strings.TrimPrefix(f[0], "Test"), f[1], f[2], f[3])
		}
	}
	if err := faults.RemoveBinary(); err != nil {
		fmt.Println(err)
		code = 1
	}
	os.Exit(code)
}

// audit records an audit's figures and fails the test if mail was lost, or duplicated without an
// explanation.
func audit(t *testing.T, a faults.Audit) {
	t.Helper()
	figure(t, "accepted", a.Accepted, "-")
	figure(t, "lost", a.Lost, "0")
	figure(t, "unexplained duplicates", a.Unexplained, "0")
	figure(t, "explained duplicates, of open attempts", fmt.Sprintf("%d of %d", a.Explained(), a.Open),
		"at most those open")
	if a.Accepted == 0 || a.Lost > 0 || a.Unexplained > 0 {
		t.Errorf("the audit is %s, want mail accepted, none lost and no unexplained duplicate:\n%s", a,
			strings.Join(a.Examples[:min(10, len(a.Examples))], "\n"))
	}
}

// busy is the tolerance for time limits. The long form runs alone and applies each limit exactly. The short
// form runs next to all other tests, on a machine that stops processes for seconds, and only detects missing
// events.
var busy = lengthOf(time.Minute, 0)

// atMost records a time and fails the test if it exceeds the limit.
func atMost(t *testing.T, what string, took, limit time.Duration) {
	t.Helper()
	figure(t, what, took, "≤ "+limit.String())
	if took > limit+busy {
		t.Errorf("%s took %s, want at most %s", what, took, limit)
	}
}

// outbound sends all mail to one host of the sink.
func outbound(h *faults.Host) string { return "POSTRIDER_OUTBOUND=smtp://" + h.Addr() }

// noDeferral makes deferred deliveries due. It excludes the claims of a worker if the server has just
// started.
func noDeferral(s *faults.Server) {
	s.Query(`UPDATE recipients SET due_at = now(), lane = NULL WHERE state = 'deferred' AND due_at > now()`)
}
