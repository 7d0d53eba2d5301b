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
	"github.com/postrider/postrider/runtime/telemetry"
)

// call is one admitted request.
type call struct {
	accounts.Caller
	requestID      string
	idempotencyKey string
	body           []byte // belongs to this request alone
}

type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// guard stands in front of an operation: nothing of a request is parsed, and no
// octet of its body read, before its caller is known and may ask.
func (a *API) guard(op operation) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(hc)
		c, release, err := a.admit(w, r, op)
		if err != nil {
			a.fail(r.Context(), w.Header().Get(headerRequestID), err).write(w)
			return
		}
		defer release()
		next(huma.WithValue(hc, callKey{}, c))
	}
}

func (a *API) admit(w http.ResponseWriter, r *http.Request, op operation) (*call, func(), error) {
	ctx := r.Context()
	bearer, err := accounts.Bearer(r.Header)
	if err != nil {
		return nil, nil, err
	}
	caller, err := a.auth.Authenticate(ctx, bearer)
	if err != nil {
		return nil, nil, err
	}
	telemetry.SetCaller(ctx, caller.AccountID, caller.KeyID)
	account, err := a.limits.Account(ctx, caller.AccountID)
	if err != nil {
		return nil, nil, err
	}
	if err := a.rate.Admit(ctx, account, w.Header()); err != nil {
		return nil, nil, err
	}
	if err := caller.Authorize(op.needs); err != nil {
		return nil, nil, err
	}
	if err := checkQuery(r.URL.RawQuery, op.query); err != nil {
		return nil, nil, err
	}
	c := &call{Caller: caller, requestID: w.Header().Get(headerRequestID)}
	if op.idempotent {
		if c.idempotencyKey, err = idempotencyKey(r.Header); err != nil {
			return nil, nil, err
		}
	}
	body, release, err := a.bodies.read(w, r, op.body)
	c.body = body
	return c, release, err
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
