package assembly

import (
	"context"
	"math"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/loopback"
	"github.com/postrider/postrider/runtime/telemetry"
)

// metrics serves GET /metrics to this machine only, under its own names: what it tells is
// nobody else's business.
func (p edgeParams) metrics() http.Handler {
	serve := telemetry.MetricsHandler(p.Registry, p.Logger)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback.Request(r) {
			http.Error(w, "metrics are served on loopback only: ask for them at 127.0.0.1, without a proxy", http.StatusForbidden)
			return
		}
		serve.ServeHTTP(w, r)
	})
}

// queueLateness is nil where nothing is sent.
func (p edgeParams) queueLateness() lateness {
	if p.Queue == nil {
		return nil
	}
	return p.Queue.Late
}

// gaugeQueue shows how late the queue is; it is asked for at each scrape, and not a
// number while the database does not tell.
func (p edgeParams) gaugeQueue(late lateness) error {
	if late == nil {
		return nil
	}
	return p.Registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "postrider_queue_late_seconds",
		Help: "How long the oldest recipient has been due that nobody has begun to deliver to; held ones and those that wait for a lane are left out."},
		func() float64 {
			ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
			defer cancel()
			d, err := late(ctx)
			if err != nil {
				return math.NaN()
			}
			return d.Seconds()
		}))
}
