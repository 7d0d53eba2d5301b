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

// database reports whether it responds, and whether the required number of standbys is connected.
type database interface {
	Ping(ctx context.Context) error
	CheckReplication(ctx context.Context) error
}

// storedLimit is the maximum age of the last confirmed write. Package node makes one every two seconds.
const storedLimit = 6 * time.Second

// Params are the inputs of the probes.
type Params struct {
	DB       database
	Stored   func() time.Duration // since the last confirmed write
	Parts    []module.Health      // health of the enabled modules
	Draining *atomic.Bool         // set once a stop was requested
	// Local reports whether a request comes directly from this machine, not through a proxy. Such a request
	// gets the details; if nil, none does.
	Local  func(*http.Request) bool
	Logger *slog.Logger
}

// Probes serves the probes of an orchestrator. Liveness depends on the process alone. Readiness requires a
// database that stores writes, and a process that is not about to stop.
type Probes struct{ Params }

// New creates the handlers.
func New(p Params) *Probes { return &Probes{Params: p} }

const readyTimeout = 3 * time.Second

// Live is GET /healthz: 200 as long as the process can respond at all.
func (p *Probes) Live(w http.ResponseWriter, r *http.Request) {
	p.respond(w, r, http.StatusOK, map[string]any{"status": "ok"})
}

// Ready is GET /readyz: 503 while requests would be rejected. A degraded part, such as a late queue, is
// reported with status 200: accepted mail is stored, and removing this process from a load balancer would
// not deliver anything sooner.
func (p *Probes) Ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	checks, status := map[string]any{"status": "ready", "database": "ok"}, http.StatusOK
	err, replicated := p.DB.Ping(ctx), error(nil)
	if err == nil {
		replicated = p.DB.CheckReplication(ctx)
	}
	var split *failover.SplitError
	switch {
	case errors.As(err, &split):
		p.Logger.WarnContext(loglimit.Collapse(r.Context(), "split"),
			"not ready: several hosts of DATABASE_URL accept writes", telemetry.KeyError, err)
		checks["status"], checks["database"], status = "not ready", "two primaries", http.StatusServiceUnavailable
	case err != nil:
		p.Logger.WarnContext(loglimit.Collapse(r.Context(), "away"), "not ready: the database does not respond",
			telemetry.KeyError, err)
		checks["status"], checks["database"], status = "not ready", "away", http.StatusServiceUnavailable
	case replicated != nil:
		p.Logger.WarnContext(loglimit.Collapse(r.Context(), "standbys"),
			"not ready: accepted mail would not survive the loss of the database server", telemetry.KeyError,
			replicated)
		checks["status"], checks["database"], status = "not ready", "without standbys", http.StatusServiceUnavailable
	case p.Stored() > storedLimit: // full, read-only, or waiting for a missing standby
		p.Logger.WarnContext(loglimit.Collapse(r.Context(), "stores"),
			"not ready: the database responds but does not store writes", "last_write", p.Stored().Round(time.Second))
		checks["status"], checks["database"], status = "not ready", "not storing", http.StatusServiceUnavailable
	default:
		p.checkParts(ctx, checks, p.Local != nil && p.Local(r))
	}
	if p.Draining.Load() {
		checks["status"], status = "draining", http.StatusServiceUnavailable
	}
	p.respond(w, r, status, checks)
}

// checkParts adds the condition of each part, except those that are unknown or not configured. Only local
// requests get details.
func (p *Probes) checkParts(ctx context.Context, checks map[string]any, details bool) {
	for _, part := range p.Parts {
		is, err := part.Ask(ctx)
		if err != nil {
			p.Logger.WarnContext(loglimit.Collapse(ctx, part.Name), "cannot determine the condition of a part", "part",
				part.Name, telemetry.KeyError, err)
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

func (p *Probes) respond(w http.ResponseWriter, r *http.Request, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		p.Logger.DebugContext(r.Context(), "client closed the connection", telemetry.KeyError, err)
	}
}
