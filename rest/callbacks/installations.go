package callbacks

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/modules/bounces"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/signin/cells"
	"github.com/postrider/postrider/runtime/base/intake"
)

// Reports is the part of the module that the handler calls.
type Reports interface {
	ReceiveForwarded(ctx context.Context, body []byte, signature string) error
}

var _ Reports = (*bounces.Service)(nil)

const (
	reportConcurrency   = 4 // each examines a report of up to 1 MB
	questionConcurrency = 64
	cellConcurrency     = 4
)

// NewReports returns the handler of bounces.ForwardPath, to which other installations forward reports about accounts
// that have moved here.
func NewReports(reports Reports, log *slog.Logger) http.Handler {
	return &signedHandler{path: bounces.ForwardPath, signature: origins.SignatureHeader, limit: bounces.MaxForwarded,
		turn: intake.NewPool(reportConcurrency), log: log, failed: "cannot store a report of another installation",
		receive: func(ctx context.Context, body []byte, signature string) ([]byte, error) {
			return nil, reports.ReceiveForwarded(ctx, body, signature)
		}}
}

// NewQuestions returns the handler of origins.Path, where installations ask about what this one has signed for accounts
// that have moved away.
func NewQuestions(desk *origins.Desk, log *slog.Logger) http.Handler {
	return &signedHandler{path: origins.Path, signature: origins.SignatureHeader, limit: origins.MaxQuestion,
		turn: intake.NewPool(questionConcurrency), log: log, failed: "cannot answer another installation",
		receive: desk.Respond}
}

// NewCells returns the handler of cells.Path, where other cells ask for password resets of people who may be here.
func NewCells(people *signin.Service, log *slog.Logger) http.Handler {
	return &signedHandler{path: cells.Path, signature: origins.SignatureHeader, limit: cells.MaxBody,
		turn: intake.NewPool(cellConcurrency), log: log, failed: "cannot answer another cell", receive: people.SendResetsFor}
}
