package callbacks

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/postrider/postrider/modules/bounces"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// Reports is the part of the module that the handler calls.
type Reports interface {
	ReceiveForwarded(ctx context.Context, body []byte, signature string) error
}

var _ Reports = (*bounces.Service)(nil)

const reportConcurrency = 4 // each has a body of up to 2 MB

type reportHandler struct {
	reports Reports
	log     *slog.Logger
	turn    *intake.Pool
}

// NewReports returns the handler of bounces.ForwardPath, to which other installations forward reports about accounts
// that have moved here.
func NewReports(reports Reports, log *slog.Logger) http.Handler {
	return &reportHandler{reports, log, intake.NewPool(reportConcurrency)}
}

// ServeHTTP implements http.Handler.
func (h *reportHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	telemetry.SetRoute(r.Context(), bounces.ForwardPath)
	switch {
	case r.URL.Path != bounces.ForwardPath:
		http.Error(w, "Not found", http.StatusNotFound)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", "POST")
		http.Error(w, "Method not allowed: use POST", http.StatusMethodNotAllowed)
		return
	}
	if err := h.takeReport(w, r); err != nil {
		refuse(w, r, h.log, "cannot store a report of another installation", err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *reportHandler) takeReport(w http.ResponseWriter, r *http.Request) error {
	release, err := h.turn.Take(r.Context(), intake.Tenant{}, 1, patience)
	if err != nil {
		return fault.DatabaseUnavailable(err)
	}
	defer release()
	body, err := readBody(w, r, bounces.MaxForwarded)
	if err != nil {
		return err
	}
	return h.reports.ReceiveForwarded(r.Context(), body, r.Header.Get(bounces.SignatureHeader))
}
