package telemetry_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/telemetry"
)

func TestQueryGaugeIsNaNWhileItsQueryFails(t *testing.T) {
	t.Parallel()
	var failure error
	registry := prometheus.NewRegistry()
	if err := telemetry.Register(registry, telemetry.NewQueryGauge("depth", "Depth of the queue.",
		func(ctx context.Context) (float64, error) {
			if _, limited := ctx.Deadline(); !limited {
				t.Error("the query has no deadline, want one: it would block the scrape")
			}
			return 7, failure
		})); err != nil {
		t.Fatal(err)
	}
	scrape := func() float64 {
		families, err := registry.Gather()
		if err != nil || len(families) != 1 || families[0].GetName() != "postrider_depth" {
			t.Fatalf("the registry has %v, %v; want postrider_depth", families, err)
		}
		return families[0].GetMetric()[0].GetGauge().GetValue()
	}
	if got := scrape(); got != 7 {
		t.Errorf("the gauge is %v, want 7", got)
	}
	failure = errors.New("database unavailable")
	if got := scrape(); !math.IsNaN(got) {
		t.Errorf("after a failed query, the gauge is %v, want NaN", got)
	}
}
