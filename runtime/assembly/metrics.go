package assembly

import (
	"net/http"

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
