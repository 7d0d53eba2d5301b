package outgoing

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/postrider/postrider/runtime/mail/lane"
)

func scrapeMetrics(reg *prometheus.Registry) string {
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).
		ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", http.NoBody))
	return answer.Body.String()
}

// attempts returns how many deliveries the metrics count for a lane, or -1 if the lane is not named.
func attempts(t *testing.T, reg *prometheus.Registry, name string) float64 {
	t.Helper()
	for line := range strings.Lines(scrapeMetrics(reg)) {
		labels, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if !strings.HasPrefix(labels, "postrider_lane_attempts_total{") ||
			!strings.Contains(labels, `lane="`+name+`"`) || !strings.Contains(labels, `result="delivered"`) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return -1
}

func TestLaneMetricsNameBusiestLanesAndSumOthers(t *testing.T) {
	t.Parallel()
	var states []lane.Snapshot
	for i := range 250 {
		states = append(states, lane.Snapshot{Name: fmt.Sprintf("mx%03d.test", i), Window: 3, Active: 1,
			Delivered: uint64(1000 - i)})
	}
	states = append(states, lane.Snapshot{Name: "provisional.test", Provisional: true, Window: 3, Reserved: 2})
	reg := prometheus.NewRegistry()
	reg.MustRegister(newLaneMetrics(func() []lane.Snapshot { return append([]lane.Snapshot(nil), states...) }))
	if n := strings.Count(scrapeMetrics(reg), "postrider_lane_window{"); n != 31 {
		t.Errorf("%d lanes are named in the metrics", n)
	}
	if a, b := attempts(t, reg, "mx029.test"), attempts(t, reg, "mx030.test"); a != 971 || b != -1 {
		t.Errorf("the last named lane has %v, the next %v", a, b)
	}
	before := attempts(t, reg, otherLanes)
	states[249].Delivered += 5000 // it becomes named; its earlier count remains under other
	states[248].Delivered += 7
	if after := attempts(t, reg, otherLanes); after < before || attempts(t, reg, "mx249.test") != 5751 {
		t.Errorf("other went from %v to %v", before, after)
	}
}

func TestLanesFileIsReadAtStart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lanes.txt")
	for rows, want := range map[string]string{"default 1 2 3 4m -\n": "",
		"default 9 2 3 4m -\nx\n": "line 1: start 9 must be at most connections 2\nline 2: provider x: want"} {
		if err := os.WriteFile(path, []byte(rows), 0o600); err != nil {
			t.Fatal(err)
		}
		lanes, err := newLanes(path, 7, nil, nil, prometheus.NewRegistry())
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := lanes.Capacity("", "example.test"); n != 2 {
			t.Errorf("room %d", n)
		}
	}
	if _, err := newLanes(path+"x", 1, nil, nil, prometheus.NewRegistry()); err == nil {
		t.Error("a missing file gave no error")
	}
}
