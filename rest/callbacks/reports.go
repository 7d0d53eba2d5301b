package callbacks

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/postrider/postrider/modules/bounces"
	"github.com/postrider/postrider/runtime/base/intake"
)

// Reports is the part of the module that the handler calls.
type Reports interface {
	ReceiveForwarded(ctx context.Context, body []byte, signature string) error
}

var _ Reports = (*bounces.Service)(nil)

const reportConcurrency = 4 // each examines a report of up to 1 MB

// NewReports returns the handler of bounces.ForwardPath, to which other installations forward reports about accounts
// that have moved here.
func NewReports(reports Reports, log *slog.Logger) http.Handler {
	return &signedHandler{path: bounces.ForwardPath, signature: bounces.SignatureHeader, limit: bounces.MaxForwarded,
		turn: intake.NewPool(reportConcurrency), receive: reports.ReceiveForwarded, log: log,
		failed: "cannot store a report of another installation"}
}
