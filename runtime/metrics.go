package runtime

import (
	"context"
	"math"
	"net"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/telemetry"
)

// metrics serves GET /metrics to this machine only: what it tells is nobody
// else's business. A request that came through a proxy is from elsewhere.
func (p edgeParams) metrics() http.Handler {
	serve := telemetry.MetricsHandler(p.Registry, p.Logger)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !fromThisMachine(r) {
			http.Error(w, "metrics are served on loopback only", http.StatusForbidden)
			return
		}
		serve.ServeHTTP(w, r)
	})
}

func fromThisMachine(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		return false
	}
	for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip"} {
		if r.Header.Get(header) != "" {
			return false
		}
	}
	return true
}

// queueLateness is nil where nothing is sent.
func (p edgeParams) queueLateness() lateness {
	if p.Sending == nil {
		return nil
	}
	return p.Sending.Queue().Late
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
