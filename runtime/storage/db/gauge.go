package db

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/telemetry"
)

// NewGauge creates a gauge of the number that a statement returns at each scrape.
func NewGauge(name, help string, on Execer, statement string) prometheus.Collector {
	return telemetry.NewQueryGauge(name, help, func(ctx context.Context) (float64, error) {
		return One(ctx, on, Value[float64], statement)
	})
}
