// Package moves receives accounts that operators move from another installation: PUT imports a file, GET returns the
// status of an account, and POST starts a copy. The client is another Postrider (modules/accounts/moves).
//
// A file has any size, so it is read as a stream while its rows are inserted. Only operator keys may call, because
// sessions of people end during long requests. The operations are not part of the OpenAPI document, whose requests have
// small bodies.
package moves

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/moves"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api/problem"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/loglimit"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// Receiver is the part of the module that the handler uses.
type Receiver interface {
	Receive(ctx context.Context, c accounts.Caller, plan string, oneTime secret.Key, file io.Reader) (moves.StatusBody,
		error)
	Status(ctx context.Context, accountID string) (moves.MoveStatus, error)
	Start(ctx context.Context, c accounts.Caller, accountID, code string) error
}

var _ Receiver = (*moves.Receiver)(nil)

// Door authenticates requests.
type Door interface {
	Authenticate(r *http.Request) (accounts.Caller, error)
}

type handler struct {
	receiver Receiver
	door     Door
	log      *slog.Logger
	turn     chan struct{}
	patience time.Duration // for the turn
}

// New returns the handler of moves.Path. One file is received at a time.
func New(r Receiver, door Door, log *slog.Logger) http.Handler {
	return &handler{r, door, log, make(chan struct{}, 1), patience}
}

const (
	bodyLimit = 4 << 10 // bytes of a POST
	// If a client is killed, the import of what it had sent usually ends within this time. Its next request waits.
	patience = 30 * time.Second
)

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	telemetry.SetRoute(r.Context(), moves.Path)
	w.Header().Set("Cache-Control", "no-store")
	got, err := h.serve(w, r)
	if err != nil {
		requestID := w.Header().Get(telemetry.RequestIDHeader)
		p := problem.From(err, requestID)
		telemetry.SetError(r.Context(), p.Body.Code, problem.WithCause(err))
		if p.Status == http.StatusInternalServerError {
			telemetry.LogFailure(loglimit.Collapse(r.Context(), "moves"), h.log, "cannot receive an account", telemetry.KeyRequestID, requestID,
				telemetry.KeyError, err)
		}
		p.Write(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(wire.Encode(got)); err != nil { //nolint:gosec // G705: JSON
		h.log.DebugContext(r.Context(), "client closed the connection", telemetry.KeyError, err)
	}
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) (moves.StatusBody, error) {
	caller, err := h.door.Authenticate(r)
	if err == nil {
		err = caller.Authorize(rights.Operate)
	}
	if err == nil && caller.Operator == nil {
		err = fault.Forbiddenf(fault.CodeInsufficientScope, "Accounts are moved with an operator key")
	}
	if err != nil {
		return moves.StatusBody{}, err
	}
	telemetry.SetCaller(r.Context(), "", caller.ID())
	switch r.Method {
	case http.MethodPut:
		return h.receive(r, caller)
	case http.MethodGet:
		return h.status(r.Context(), r.URL.Query().Get("account_id"))
	case http.MethodPost:
		var start moves.StartBody
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyLimit)).Decode(&start); err != nil {
			return moves.StatusBody{}, fault.Invalidf("The body must be a JSON object with account_id and code")
		}
		if err := h.receiver.Start(r.Context(), caller, start.AccountID, start.Code); err != nil {
			return moves.StatusBody{}, err
		}
		return h.status(r.Context(), start.AccountID)
	}
	w.Header().Set("Allow", "GET, POST, PUT")
	return moves.StatusBody{}, problem.New(http.StatusMethodNotAllowed, fault.CodeMethodNotAllowed,
		"Method not allowed: use GET, POST or PUT")
}

func (h *handler) receive(r *http.Request, caller accounts.Caller) (moves.StatusBody, error) {
	ctx, cancel := context.WithTimeout(r.Context(), h.patience)
	defer cancel()
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return moves.StatusBody{}, fault.Conflictf(fault.CodeConflict, "Another account is being received. Retry later")
	}
	oneTime, err := secret.ParseKeys(secret.New(r.Header.Get(moves.SecretHeader)))
	if err != nil || len(oneTime) != 1 {
		return moves.StatusBody{}, fault.InvalidField(moves.SecretHeader, "must be the one-time key of the file")
	}
	intake.StreamBody(r.Body)
	return h.receiver.Receive(r.Context(), caller, r.URL.Query().Get("plan"), oneTime[0], r.Body)
}

func (h *handler) status(ctx context.Context, accountID string) (moves.StatusBody, error) {
	if !id.Is(id.Account, accountID) {
		return moves.StatusBody{}, fault.InvalidField("account_id", "must be the id of an account")
	}
	at, err := h.receiver.Status(ctx, accountID)
	return moves.StatusBody{AccountID: accountID, State: at.State, MoveID: at.MoveID}, err
}
