package runtime

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/runtime/telemetry"
)

// pinger tells whether the database answers.
type pinger interface {
	Ping(ctx context.Context) error
}

// health answers the probes of an orchestrator. Liveness depends on nothing but
// the process; readiness on the database and on not being about to stop.
type health struct {
	db       pinger
	draining atomic.Bool
	log      *slog.Logger
}

const readyTimeout = 3 * time.Second

// live is GET /healthz: 200 as long as the process can answer at all.
func (h *health) live(w http.ResponseWriter, r *http.Request) {
	h.answer(w, r, http.StatusOK, map[string]string{"status": "ok"})
}

// ready is GET /readyz: 503 while requests would be refused.
func (h *health) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	checks, status := map[string]string{"status": "ready", "database": "ok"}, http.StatusOK
	if err := h.db.Ping(ctx); err != nil {
		h.log.WarnContext(r.Context(), "not ready: the database does not answer", telemetry.KeyError, err)
		checks["status"], checks["database"], status = "not ready", "away", http.StatusServiceUnavailable
	}
	if h.draining.Load() {
		checks["status"], status = "draining", http.StatusServiceUnavailable
	}
	h.answer(w, r, status, checks)
}

func (h *health) answer(w http.ResponseWriter, r *http.Request, status int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		h.log.DebugContext(r.Context(), "caller left before the answer", telemetry.KeyError, err)
	}
}
