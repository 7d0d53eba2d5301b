package rest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/rest/body"
	"github.com/postrider/postrider/rest/problem"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/intake"
	"github.com/postrider/postrider/runtime/telemetry"
)

// Call is one admitted request.
type Call struct {
	accounts.Caller
	RequestID string

	api            *API
	operation      string // method and path: what an Idempotency-Key is used for
	idempotencyKey string
	body           []byte // belongs to this request alone, until it is over
	content        *intake.Content
}

// Owner is whose share of the budget this call uses.
func (c *Call) Owner() intake.Owner { return intake.Owner{Account: c.AccountID} }

// Budget bounds answers that are large.
func (c *Call) Budget() *intake.Budget { return c.api.budget }

// Fail makes the answer of an error, and tells the log what the caller is not told.
func (c *Call) Fail(ctx context.Context, err error) *problem.Problem {
	return c.api.fail(ctx, c.RequestID, err)
}

func (c *Call) close() {
	if c.content != nil {
		c.content.Close()
	}
}

type callKey struct{}

func callOf(ctx context.Context) *Call { return ctx.Value(callKey{}).(*Call) }

// guard stands in front of an operation: nothing of a request is parsed, and no
// octet of its body read, before its caller is known and may ask.
func (a *API) guard(op Operation) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(hc)
		c, err := a.admit(w, r, op)
		defer c.close()
		if err == nil {
			err = c.guarded(func() { next(huma.WithValue(hc, callKey{}, c)) })
		}
		if err != nil {
			a.fail(r.Context(), w.Header().Get(headerRequestID), err).Write(w)
		}
	}
}

// guarded runs the handler of a call. A body in a file may fail to be read or changed
// there; the handler has answered nothing then.
func (c *Call) guarded(handle func()) error {
	if c.content == nil || c.content.InMemory() {
		handle()
		return nil
	}
	err := intake.Guarded(func() error { handle(); return nil })
	if err != nil {
		return noRoom(err)
	}
	return nil
}

// admit never gives a nil call.
func (a *API) admit(w http.ResponseWriter, r *http.Request, op Operation) (*Call, error) {
	c := &Call{RequestID: w.Header().Get(headerRequestID), api: a, operation: r.Method + " " + r.URL.Path}
	ctx := r.Context()
	bearer, err := accounts.Bearer(r.Header)
	if err != nil {
		return c, err
	}
	caller, err := a.auth.Authenticate(ctx, bearer)
	if err != nil {
		return c, err
	}
	telemetry.SetCaller(ctx, caller.AccountID, caller.KeyID)
	account, err := a.limits.Account(ctx, caller.AccountID)
	if err != nil {
		return c, err
	}
	if err := a.rate.Admit(ctx, account, w.Header()); err != nil {
		return c, err
	}
	if err := caller.Authorize(op.Needs); err != nil {
		return c, err
	}
	if err := checkQuery(r.URL.RawQuery, op.query); err != nil {
		return c, err
	}
	c.Caller = caller
	if op.idempotent {
		if c.idempotencyKey, err = idempotencyKey(r.Header); err != nil {
			return c, err
		}
	}
	return c, a.readBody(w, r, op.Body, c)
}

// maxParameters bounds how many wrong query parameters an answer names.
const maxParameters = 100

// checkQuery refuses parameters that the operation does not have, are empty, or
// come twice: which of them was meant is not for us to guess.
func checkQuery(raw string, known []string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return fault.Invalidf("The query string is malformed")
	}
	wrong := fault.Fields{}
	for name, values := range query {
		switch {
		case len(wrong) >= maxParameters:
		case !slices.Contains(known, name):
			wrong.Add(body.Shown(name), "is not a known query parameter")
		case len(values) > 1:
			wrong.Add(name, "is given more than once")
		case values[0] == "":
			wrong.Add(name, "is empty")
		}
	}
	return wrong.Err()
}

// StillAllowed asks again whether the caller may, for answers that go on for long.
func (c *Call) StillAllowed(r *http.Request, needs accounts.Operation) error {
	bearer, err := accounts.Bearer(r.Header)
	if err != nil {
		return err
	}
	caller, err := c.api.auth.Authenticate(r.Context(), bearer)
	if err != nil {
		return err
	}
	return caller.Authorize(needs)
}

// fail translates an error, and tells the log what the caller is not told.
func (a *API) fail(ctx context.Context, requestID string, err error) *problem.Problem {
	p := problem.From(err, requestID)
	whole := problem.WithCause(err)
	telemetry.SetError(ctx, p.Body.Code, whole)
	abandoned := ctx.Err() != nil && errors.Is(err, context.Canceled)
	if p.Status == http.StatusInternalServerError && !abandoned {
		a.log.ErrorContext(ctx, "request failed", telemetry.KeyRequestID, requestID, telemetry.KeyError, whole)
	}
	return p
}
