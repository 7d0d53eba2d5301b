package journeys_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/test/harness"
)

// A late queue is reported as a number, and does not remove the API from a load balancer.
func TestReadinessReportsQueueDelay(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, func(s setting.RawValues) { s["POSTRIDER_DELIVERY_CONCURRENCY"] = "0" }) // no delivery
	s := scenarioOf(t, app)
	type answer struct {
		Status, Queue, Database string
		Late                    float64 `json:"queue_late_seconds"`
	}
	ask := func() (got answer) {
		a := app.Do(t, http.MethodGet, "/readyz", nil)
		a.JSON(t, &got)
		if a.Status != http.StatusOK {
			t.Errorf("readiness with a late queue got status %d and %s, want 200", a.Status, a.Body)
		}
		return got
	}
	if got := ask(); got != (answer{Status: "ready", Queue: "ok", Database: "ok"}) {
		t.Errorf("an empty queue: %+v", got)
	}
	s.sendMessage(t, []string{"due@example.net", "held@example.net"})
	s.exec(t, `UPDATE recipients SET due_at = now() - CASE WHEN address ~ '^held' THEN interval '1 day' ELSE interval '30 seconds' END,
		held_by = CASE WHEN address ~ '^held' THEN 'operator' END`)
	if got := ask(); got.Status != "ready" || got.Queue != "ok" || got.Late < 30 || got.Late > 59 {
		t.Errorf("half a minute late: %+v", got)
	}
	s.exec(t, `UPDATE recipients SET due_at = due_at - interval '1 hour'`)
	if got := ask(); got.Status != "degraded" || got.Queue != "degraded" || got.Late < 3630 || got.Late > 3700 {
		t.Errorf("an hour late: %+v", got)
	}
	if got := string(app.Do(t, http.MethodGet, "/metrics", nil).Body); !strings.Contains(got,
		"\npostrider_queue_late_seconds 36") {
		t.Errorf("metrics: %s", got)
	}
}
