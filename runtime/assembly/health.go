package assembly

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/runtime/loopback"
	"github.com/postrider/postrider/runtime/module"
	"github.com/postrider/postrider/runtime/telemetry"
)

// pinger tells whether the database answers.
type pinger interface {
	Ping(ctx context.Context) error
}

// storedLimit is how old the last write may be that was certainly stored. One is made
// every two seconds (package node).
const storedLimit = 6 * time.Second

// health answers the probes of an orchestrator. Liveness depends on nothing but
// the process; readiness on a database that stores what it is given, and on not being
// about to stop.
type health struct {
	db       pinger
	stored   func() time.Duration // since the last write that was stored
	parts    []module.Health      // of the modules that are on
	draining *atomic.Bool
	log      *slog.Logger
}

const readyTimeout = 3 * time.Second

// live is GET /healthz: 200 as long as the process can answer at all.
func (h *health) live(w http.ResponseWriter, r *http.Request) {
	h.answer(w, r, http.StatusOK, map[string]any{"status": "ok"})
}

// ready is GET /readyz: 503 while requests would be refused. A part that is degraded, such
// as a queue that is late, is told and stays 200: what is accepted is stored, and taking the
// process that accepts out of a load balancer would not deliver anything sooner.
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
		h.checkParts(ctx, checks, loopback.Request(r))
	}
	if h.draining.Load() {
		checks["status"], status = "draining", http.StatusServiceUnavailable
	}
	h.answer(w, r, status, checks)
}

// checkParts adds how each part does; nothing of one that cannot tell. Details are for whom
// the machine belongs to.
func (h *health) checkParts(ctx context.Context, checks map[string]any, details bool) {
	for _, part := range h.parts {
		is, err := part.Ask(ctx)
		if err != nil {
			h.log.WarnContext(ctx, "the condition of a part is not known", "part", part.Name, telemetry.KeyError, err)
			continue
		}
		checks[part.Name] = "ok"
		if is.Degraded {
			checks["status"], checks[part.Name] = "degraded", "degraded"
		}
		if details && len(is.Details) > 0 {
			checks[part.Name+"_details"] = is.Details
		}
		for name, figure := range is.Figures {
			checks[part.Name+"_"+name] = figure
		}
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
