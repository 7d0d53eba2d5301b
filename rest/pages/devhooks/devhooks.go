// Package devhooks implements the webhook receiver of development mode: it accepts webhooks over HTTP and returns them
// to their account as JSON.
//
// Webhooks arrive without a credential, at an unguessable URL. Only the account can read them, with a key or a
// session like those of the API (modules/accounts/admission).
package devhooks

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/devinbox/hooks"
	"github.com/postrider/postrider/rest/api/problem"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// The paths of received requests, the configured response, and deletion.
const (
	Path       = "/dev/webhooks.json"
	AnswerPath = "/dev/webhooks/answer"
	ClearPath  = "/dev/webhooks/clear"
)

// Receivers is the part of the module that the handler uses.
type Receivers interface {
	Receive(ctx context.Context, in hooks.Received) (int, error)
	List(ctx context.Context, accountID string, q hooks.RequestQuery) (hooks.ReceiverState, error)
	AnswerWith(accountID string, status int) error
	Clear(accountID string)
}

var _ Receivers = (*hooks.Service)(nil)

// Door authenticates requests.
type Door interface {
	Authenticate(r *http.Request) (accounts.Caller, error)
}

var _ Door = (*admission.Authenticator)(nil)

type edge struct {
	receivers Receivers
	door      Door
	log       *slog.Logger
}

// Paths are the paths of the handler.
func Paths() []string { return []string{Path, AnswerPath, ClearPath, hooks.Path + "/"} }

// New returns the handler of Paths.
func New(receivers Receivers, door Door, log *slog.Logger) http.Handler {
	e := &edge{receivers, door, log}
	mux := http.NewServeMux()
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request) error{
		"POST " + hooks.Path + "/{account}/{token}": e.receive,
		"GET " + Path:        e.as(rights.Read, e.list),
		"POST " + AnswerPath: e.as(rights.Write, e.answer),
		"POST " + ClearPath:  e.as(rights.Write, e.clear),
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			header := w.Header()
			header.Set("X-Content-Type-Options", "nosniff")
			header.Set("Cache-Control", "no-store")
			telemetry.SetRoute(r.Context(), r.Pattern)
			if err := handle(w, r); err != nil && r.Context().Err() == nil { // otherwise the client has disconnected
				e.refuse(w, r, err)
			}
		})
	}
	return mux
}

// as authorizes the caller for an operation and returns the account.
func (e *edge) as(op rights.Operation,
	handle func(http.ResponseWriter, *http.Request, string) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		caller, err := e.door.Authenticate(r)
		if err != nil {
			return err
		}
		if err := caller.Authorize(op); err != nil {
			return err
		}
		return handle(w, r, caller.AccountID)
	}
}

// receive accepts a webhook. The sender logs the response body, so it describes the result.
func (e *edge) receive(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, hooks.MaxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, "The receiver of development mode accepts bodies of at most 1 MiB",
			http.StatusRequestEntityTooLarge)
		return nil
	case err != nil:
		return nil //nolint:nilerr // the sender has disconnected
	}
	status, err := e.receivers.Receive(r.Context(),
		hooks.Received{AccountID: r.PathValue("account"), Token: r.PathValue("token"), Header: r.Header, Body: body})
	if err != nil {
		return err
	}
	if status == http.StatusNoContent || status == http.StatusResetContent {
		w.WriteHeader(status)
		return nil
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	words := "Received by development mode\n"
	if status >= http.StatusBadRequest {
		words = "The development receiver is configured to return this response\n"
	}
	return write(w, []byte(words))
}

const maxBody = 4 << 10 // bytes of a request

func (e *edge) answer(w http.ResponseWriter, r *http.Request, accountID string) error {
	var in struct {
		Status *int `json:"status"`
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil || decoder.More() {
		return fault.Invalidf(`The body must be JSON, such as {"status": 500}`).WithCause(err)
	}
	if in.Status == nil {
		return fault.InvalidField("status", "is required")
	}
	if err := e.receivers.AnswerWith(accountID, *in.Status); err != nil {
		return err
	}
	return sendJSON(w, map[string]int{"status": *in.Status})
}

func (e *edge) clear(w http.ResponseWriter, _ *http.Request, accountID string) error {
	e.receivers.Clear(accountID)
	return sendJSON(w, map[string]bool{"ok": true})
}

// refuse writes an error in the format of the API.
func (e *edge) refuse(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.Classify(err)
	telemetry.SetError(r.Context(), f.Code, err)
	if f.Kind == fault.Internal {
		telemetry.LogFailure(r.Context(), e.log, "webhook receiver of development mode", telemetry.KeyError, err)
	}
	answer := problem.From(err, w.Header().Get(telemetry.RequestIDHeader))
	if f.Kind == fault.Invalid {
		answer.Status = http.StatusUnprocessableEntity
	}
	answer.Write(w)
}

func sendJSON(w http.ResponseWriter, v any) error {
	encoded, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return write(w, append(encoded, '\n'))
}

func write(w http.ResponseWriter, content []byte) error {
	if _, err := w.Write(content); err != nil {
		return nil //nolint:nilerr // the client has disconnected
	}
	return nil
}
