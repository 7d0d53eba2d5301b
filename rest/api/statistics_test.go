package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/timeseries"
)

var statisticsDay = time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC)

// fakeStatistics has one period with figures, and keeps the latest questions.
type fakeStatistics struct {
	mutex sync.Mutex
	mail  statistics.Question
	runs  statistics.RunQuestion
}

// check validates a question like the service.
func (*fakeStatistics) check(r statistics.Range, i statistics.Interval, zone string) error {
	wrong := fault.Fields{}
	timeseries.Query{Range: r, Interval: i, Timezone: zone}.Axis(wrong, 0)
	return wrong.Err()
}

func (f *fakeStatistics) Query(_ context.Context, _ string,
	q statistics.Question) (out statistics.QueryResult, err error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.mail = q
	out.AsOf = statisticsDay.Add(time.Hour)
	out.Totals = statistics.Figures{Accepted: 3, Recipients: 4, Delivered: 2, Bounced: 1}
	out.Buckets = []statistics.Bucket{{Start: statisticsDay, Figures: out.Totals}}
	return out, f.check(q.Range, q.Interval, q.Timezone)
}

func (f *fakeStatistics) QueryRuns(_ context.Context, _ string,
	q statistics.RunQuestion) (out statistics.RunAnswer, err error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.runs = q
	out.AsOf = statisticsDay.Add(2 * time.Hour)
	out.Totals = statistics.RunFigures{Started: 9, WithGoal: 8, Completed: 4, Failed: 2, Cancelled: 1, Converted: 3}
	out.Buckets = []statistics.RunBucket{{Start: statisticsDay, Figures: out.Totals}}
	return out, f.check(q.Range, q.Interval, q.Timezone)
}

func TestStatisticsOverTime(t *testing.T) {
	t.Parallel()
	b := newBundleFor(t, "/api/automations")
	const query = "?since=2026-01-15T00:00:00Z&until=2026-01-16T01:00:00%2B01:00&interval=hour" +
		"&timezone=Europe/Vienna&placed_by=start"
	got := b.do(t, request{method: http.MethodGet, path: "/api/automations/" + automationID + "/statistics" + query})
	whole := statistics.Range{Since: statisticsDay, Until: statisticsDay.Add(24 * time.Hour)}
	if q := b.statistics.runs; got.status != http.StatusOK || !q.Range.Until.Equal(whole.Until) ||
		!q.Range.Since.Equal(whole.Since) || q.Interval != statistics.Hour || q.Timezone != "Europe/Vienna" || !q.ByStart || q.AutomationID != automationID {
		t.Errorf("%d; the question about runs is %+v", got.status, q)
	}
	if q := b.statistics.mail; q.Filter != (statistics.Filter{AutomationID: automationID}) || !q.ByEmail ||
		q.Timezone != "Europe/Vienna" {
		t.Errorf("the question about mail is %+v", q)
	}
	var told struct {
		Statistics struct {
			AsOf   string `json:"as_of"`
			Totals struct{ Runs map[string]int }
		}
	}
	if err := json.Unmarshal([]byte(got.body), &told); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"started": 9, "with_goal": 8, "completed": 4, "failed": 2, "cancelled": 1, "converted": 3}
	s := told.Statistics
	if diff := cmp.Diff(want, s.Totals.Runs); diff != "" || s.AsOf != "2026-01-15T01:00:00.000Z" {
		t.Errorf("as of %s, runs (-want +got):\n%s", s.AsOf, diff)
	}
	if got := b.do(t, request{method: http.MethodGet,
		path: "/api/automations/aut_01kf0m4w7he6x8q2v5b3n9c1tz/statistics"}); got.status != http.StatusNotFound {
		t.Errorf("an unknown automation: %d, want 404", got.status)
	}
}
