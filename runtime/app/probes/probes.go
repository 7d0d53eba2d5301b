package probes

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/runtime/base/loglimit"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db/failover"
)

// database reports whether it answers, and whether as many standbys follow it as are asked for.
type database interface {
	Ping(ctx context.Context) error
	Replicated(ctx context.Context) error
}

// storedLimit is how old the last write may be that was certainly stored. One is made
// every two seconds (package node).
const storedLimit = 6 * time.Second

// Params are what the answers depend on.
type Params struct {
	DB       database
	Stored   func() time.Duration // since the last write that was stored
	Parts    []module.Health      // of the modules that are on
	Draining *atomic.Bool         // set once a stop was asked for
	// Local reports whether a request comes from this machine and from no proxy: such a request gets
	// the details; nil: none does.
	Local  func(*http.Request) bool
	Logger *slog.Logger
}

// Probes answers the probes of an orchestrator. Liveness depends on the process alone.
// Readiness depends on a database that stores what it is given, and on a process that is
// not about to stop.
type Probes struct{ Params }

// New creates the handlers.
func New(p Params) *Probes { return &Probes{Params: p} }

const readyTimeout = 3 * time.Second

// Live is GET /healthz: 200 as long as the process can answer at all.
func (p *Probes) Live(w http.ResponseWriter, r *http.Request) {
	p.answer(w, r, http.StatusOK, map[string]any{"status": "ok"})
}

// Ready is GET /readyz: 503 while requests would be refused. A part that is degraded, such
// as a queue that is late, is told and stays 200: what is accepted is stored, and taking the
// process that accepts out of a load balancer would not deliver anything sooner.
func (p *Probes) Ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	checks, status := map[string]any{"status": "ready", "database": "ok"}, http.StatusOK
	err, replicated := p.DB.Ping(ctx), error(nil)
	if err == nil {
		replicated = p.DB.Replicated(ctx)
	}
	var split *failover.SplitError
	switch {
	case errors.As(err, &split):
		p.Logger.WarnContext(loglimit.Collapse(r.Context(), "split"), "not ready: several hosts of DATABASE_URL take writes", telemetry.KeyError, err)
		checks["status"], checks["database"], status = "not ready", "two primaries", http.StatusServiceUnavailable
	case err != nil:
		p.Logger.WarnContext(loglimit.Collapse(r.Context(), "away"), "not ready: the database does not answer", telemetry.KeyError, err)
		checks["status"], checks["database"], status = "not ready", "away", http.StatusServiceUnavailable
	case replicated != nil:
		p.Logger.WarnContext(loglimit.Collapse(r.Context(), "standbys"), "not ready: what is accepted would not outlive the server", telemetry.KeyError, replicated)
		checks["status"], checks["database"], status = "not ready", "without standbys", http.StatusServiceUnavailable
	case p.Stored() > storedLimit: // full, read-only, or without the standby that it waits for
		p.Logger.WarnContext(loglimit.Collapse(r.Context(), "stores"), "not ready: the database answers and stores nothing", "last_write", p.Stored().Round(time.Second))
		checks["status"], checks["database"], status = "not ready", "not storing", http.StatusServiceUnavailable
	default:
		p.checkParts(ctx, checks, p.Local != nil && p.Local(r))
	}
	if p.Draining.Load() {
		checks["status"], status = "draining", http.StatusServiceUnavailable
	}
	p.answer(w, r, status, checks)
}

// checkParts adds how each part does; nothing of one that cannot tell, or is not set up. Details are for whom
// the machine belongs to.
func (p *Probes) checkParts(ctx context.Context, checks map[string]any, details bool) {
	for _, part := range p.Parts {
		is, err := part.Ask(ctx)
		if err != nil {
			p.Logger.WarnContext(loglimit.Collapse(ctx, part.Name), "the condition of a part is not known", "part", part.Name, telemetry.KeyError, err)
			continue
		}
		if is.Off {
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

func (p *Probes) answer(w http.ResponseWriter, r *http.Request, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		p.Logger.DebugContext(r.Context(), "caller left before the answer", telemetry.KeyError, err)
	}
}
