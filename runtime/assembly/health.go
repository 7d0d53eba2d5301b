package assembly

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/runtime/telemetry"
)

// pinger tells whether the database answers.
type pinger interface {
	Ping(ctx context.Context) error
}

// lateness tells how long the oldest recipient has been due that nobody has begun
// to deliver to, by the database clock.
type lateness func(ctx context.Context) (time.Duration, error)

// storedLimit is how old the last write may be that was certainly stored. One is made
// every two seconds (package node).
const storedLimit = 6 * time.Second

// lateLimit is from when on the queue is called degraded.
const lateLimit = time.Minute

// health answers the probes of an orchestrator. Liveness depends on nothing but
// the process; readiness on a database that stores what it is given, and on not being
// about to stop.
type health struct {
	db       pinger
	stored   func() time.Duration // since the last write that was stored
	late     lateness             // nil: this assembly sends nothing
	draining *atomic.Bool
	log      *slog.Logger
}

const readyTimeout = 3 * time.Second

// live is GET /healthz: 200 as long as the process can answer at all.
func (h *health) live(w http.ResponseWriter, r *http.Request) {
	h.answer(w, r, http.StatusOK, map[string]any{"status": "ok"})
}

// ready is GET /readyz: 503 while requests would be refused. A queue that is late
// is told and stays 200: what is accepted is stored, and taking the process that
// accepts out of a load balancer would not deliver anything sooner.
func (h *health) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	checks, status := map[string]any{"status": "ready", "database": "ok"}, http.StatusOK
	switch err := h.db.Ping(ctx); {
	case err != nil:
		h.log.WarnContext(r.Context(), "not ready: the database does not answer", telemetry.KeyError, err)
		checks["status"], checks["database"], status = "not ready", "away", http.StatusServiceUnavailable
	case h.stored() > storedLimit: // full, read-only, or without the standby that it waits for
		h.log.WarnContext(r.Context(), "not ready: the database answers and stores nothing", "last_write", h.stored().Round(time.Second))
		checks["status"], checks["database"], status = "not ready", "not storing", http.StatusServiceUnavailable
	default:
		h.checkQueue(ctx, checks)
	}
	if h.draining.Load() {
		checks["status"], status = "draining", http.StatusServiceUnavailable
	}
	h.answer(w, r, status, checks)
}

// checkQueue adds how late the queue is; nothing when that cannot be told.
func (h *health) checkQueue(ctx context.Context, checks map[string]any) {
	if h.late == nil {
		return
	}
	late, err := h.late(ctx)
	if err != nil {
		h.log.WarnContext(ctx, "the age of the queue is not known", telemetry.KeyError, err)
		return
	}
	checks["queue"], checks["queue_late_seconds"] = "ok", math.Floor(late.Seconds())
	if late > lateLimit {
		checks["status"], checks["queue"] = "degraded", "degraded"
	}
}

func (h *health) answer(w http.ResponseWriter, r *http.Request, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		h.log.DebugContext(r.Context(), "caller left before the answer", telemetry.KeyError, err)
	}
}
