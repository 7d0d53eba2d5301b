package runtime

import (
	"net"
	"net/http"

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
