package rest

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/intake"
	"github.com/postrider/postrider/runtime/telemetry"
)

// call is one admitted request.
type call struct {
	accounts.Caller
	requestID      string
	idempotencyKey string
	body           []byte // belongs to this request alone, until it is over
	content        *intake.Content
}

// owner is whose share of the budget this call uses.
func (c *call) owner() intake.Owner { return intake.Owner{Account: c.AccountID} }

func (c *call) close() {
	if c.content != nil {
		c.content.Close()
	}
}

type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// guard stands in front of an operation: nothing of a request is parsed, and no
// octet of its body read, before its caller is known and may ask.
func (a *API) guard(op operation) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(hc)
		c, err := a.admit(w, r, op)
		defer c.close()
		if err == nil {
			err = c.guarded(func() { next(huma.WithValue(hc, callKey{}, c)) })
		}
		if err != nil {
			a.fail(r.Context(), w.Header().Get(headerRequestID), err).write(w)
		}
	}
}

// guarded runs the handler of a call. A body in a file may fail to be read or changed
// there; the handler has answered nothing then.
func (c *call) guarded(handle func()) error {
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
func (a *API) admit(w http.ResponseWriter, r *http.Request, op operation) (*call, error) {
	c := &call{requestID: w.Header().Get(headerRequestID)}
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
	if err := caller.Authorize(op.needs); err != nil {
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
	return c, a.readBody(w, r, op.body, c)
}

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
		case len(wrong) >= maxReasons:
		case !slices.Contains(known, name):
			wrong.Add(shown(name), "is not a known query parameter")
		case len(values) > 1:
			wrong.Add(name, "is given more than once")
		case values[0] == "":
			wrong.Add(name, "is empty")
		}
	}
	return wrong.Err()
}
