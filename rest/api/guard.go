package api

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/problem"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/base/loglimit"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/clientip"
)

// Call is one admitted request.
type Call struct {
	accounts.Caller
	RequestID string

	api            *API
	operation      string            // method and path, the scope of an Idempotency-Key
	permission     rights.Permission // of API keys, which allows the operation
	testAccess     rights.TestAccess // how the operation works in test mode
	idempotencyKey string
	header         http.Header // header fields of the response
	remote         netip.Addr
	body           []byte // belongs to this request alone, until it is over
	content        *intake.Content
	charged        int64         // bytes, against the quota of the account
	left           time.Duration // time left of fault.AnswerWithin for the handler
	answer         any           // of an operation that the audit log records
}

// Owner returns the tenant whose share of the budget this call uses.
func (c *Call) Owner() intake.Tenant { return intake.Tenant{Account: c.AccountID, Remote: c.remote} }

// Budget returns the budget for large responses.
func (c *Call) Budget() *intake.Budget { return c.api.budget }

// Fail translates an error into a response, and logs the details that are hidden from the caller.
func (c *Call) Fail(ctx context.Context, err error) *problem.Problem {
	return c.api.translateError(ctx, c.RequestID, err)
}

func (c *Call) close() {
	c.body = nil
	if c.content != nil {
		c.content.Close()
	}
}

type callKey struct{}

func callOf(ctx context.Context) *Call { return ctx.Value(callKey{}).(*Call) }

// SetCookie adds the session cookie to the response. An empty value deletes it.
func (c *Call) SetCookie(value string) {
	c.header.Add("Set-Cookie", admission.Cookie(c.api.base, value).String())
}

// SetDevice adds the cookie that identifies the browser to the response.
func (c *Call) SetDevice(value string) {
	for _, cookie := range admission.DeviceCookies(c.api.base, value) {
		c.AddCookie(cookie)
	}
}

// AddCookie adds a cookie to the response.
func (c *Call) AddCookie(cookie *http.Cookie) { c.header.Add("Set-Cookie", cookie.String()) }

// slowWork bounds the CPU-intensive work of requests in this process to half of the processors, and to
// one per account.
var slowWork = limit.NewKeyed[string](limit.Bounds{PerKey: 1, Total: max(1, runtime.GOMAXPROCS(0)/2), Waiting: 8})

// guard wraps an operation. It authenticates and authorizes the caller before it parses anything of the request and
// before it reads any byte of the body.
func (a *API) guard(op Operation) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(hc)
		origin := audit.Origin{Addr: clientip.From(r, a.proxies), Agent: r.UserAgent(), RequestID: w.Header().
			Get(headerRequestID),
			Languages: r.Header.Get("Accept-Language"), Device: admission.Device(r, a.base)}
		c := &Call{RequestID: origin.RequestID, api: a, operation: r.Method + " " + r.URL.Path, permission: op.Permission(), testAccess: op.TestAccess(),
			header: w.Header(),
			remote: origin.Addr}
		recordCaller(w, c, &op, origin)
		err := a.admit(w, r, op, c)
		defer c.close()
		if err == nil {
			ctx := context.WithValue(audit.WithOrigin(hc.Context(), origin), callKey{}, c)
			if c.AccountID != "" {
				ctx = slowWork.Bind(ctx, c.AccountID)
			}
			if !op.Slow && (op.Body == nil || !op.Body.Large) { // for a large one: working
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.left)
				defer cancel()
			}
			before := a.readBefore(ctx, c, op, r.PathValue("id"))
			if err = c.runGuarded(func() { next(huma.WithContext(hc, ctx)) }); err != nil ||
				hc.Status() >= http.StatusMultipleChoices {
				c.refund(ctx)
			}
			a.record(ctx, c, op, hc.Status(), r.PathValue("id"), before)
		}
		if err != nil {
			err = admission.Forward(w, r, c.remote, a.budget, err)
		}
		if err != nil {
			a.translateError(r.Context(), w.Header().Get(headerRequestID), err).Write(w)
		}
	}
}

// LastBy returns the display name of the caller who last performed an operation on a target since a given time, or ""
// if it is unknown.
func (c *Call) LastBy(ctx context.Context, operation, target string, since time.Time) string {
	if c.api.audit == nil {
		return ""
	}
	by, err := c.api.audit.LastBy(ctx, c.AccountID, operation, target, since)
	if err != nil {
		c.api.log.WarnContext(ctx, "cannot read the last actor from the audit log", "operation", operation,
			telemetry.KeyError, err)
	}
	return by.Name
}

// AddConflictName adds the name of the user who made a conflicting change, if the error contains the time of the
// change. A name that cannot be determined is omitted.
func (c *Call) AddConflictName(ctx context.Context, operation, target string, err error) error {
	var conflict *fault.Error
	if c.Caller.Person == nil || !errors.As(err, &conflict) {
		return err
	}
	text, _ := conflict.Details[fault.DetailChangedAt].(string)
	at, wrong := time.Parse(time.RFC3339Nano, text)
	if wrong != nil {
		return err
	}
	if by := c.LastBy(ctx, operation, target, at); by != "" {
		return conflict.With("changed_by", by)
	}
	return err
}

// runGuarded runs the handler of a call. If the body is in a file, reading it can fail; the handler has not
// responded yet in that case.
func (c *Call) runGuarded(handle func()) error {
	if c.content == nil || c.content.InMemory() {
		handle()
		return nil
	}
	err := intake.RecoverDiskFault(func() error { handle(); return nil })
	if err != nil {
		return noRoom(err)
	}
	return nil
}

// admit authenticates and authorizes a request, and stores the caller and the body in c.
func (a *API) admit(w http.ResponseWriter, r *http.Request, op Operation, c *Call) error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(r.Context(), fault.AnswerWithin)
	defer cancel()
	if err := a.identify(c, r.WithContext(ctx), op); err != nil {
		return err
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		c.Caller = c.Reading()
	}
	telemetry.SetCaller(ctx, c.AccountID, c.Caller.ID())
	intake.SetTenant(w, c.Owner())
	if err := a.mayAsk(ctx, c, op); err != nil {
		return err
	}
	if !op.OpenQuery {
		if err := checkQuery(r.URL.RawQuery, op.query); err != nil {
			return err
		}
	}
	if op.idempotent {
		var err error
		if c.idempotencyKey, err = idempotencyKey(r.Header); err != nil {
			return err
		}
	}
	if err := a.mayTouch(ctx, c, op, r.PathValue("id")); err != nil {
		return err
	}
	c.left = fault.AnswerWithin - time.Since(began)
	// which is charged once it is certain that no response is stored under its key
	if err := a.readBody(w, r, op.Body, c); err != nil || op.idempotent {
		return err
	}
	charging, stop := context.WithTimeout(r.Context(), c.left) // without the time that the body took to arrive
	defer stop()
	began = time.Now()
	err := c.chargeBody(charging, op)
	c.left -= time.Since(began)
	return err
}

// mayTouch rejects access to the resource of the path if the key is limited to other domains.
func (a *API) mayTouch(ctx context.Context, c *Call, op Operation, item string) error {
	if op.Public || !c.IsLimited() || item == "" || rights.ReachOf(op.ID) != rights.OwnDomains {
		return nil
	}
	if err := op.Of.Check(item); err != nil {
		return err
	}
	within := false
	if bound := a.bound[op.Of.Name]; bound != nil {
		var err error
		if within, err = bound.IsWithin(ctx, c.AccountID, item, c.DomainIDs); err != nil {
			return err
		}
	}
	if !within {
		return accounts.ErrOtherDomain()
	}
	return nil
}

// identify authenticates the caller. A public operation may have no caller.
func (a *API) identify(c *Call, r *http.Request, op Operation) (err error) {
	if !op.Public {
		c.Caller, err = a.door.Authenticate(r)
		return err
	}
	if err := a.door.RejectForeign(r); err != nil {
		return err
	}
	if _, given := r.Header["Authorization"]; given {
		return nil
	}
	caller, err := a.door.Authenticate(r)
	if fault.KindOf(err) == fault.Unavailable {
		return err
	}
	if err == nil {
		c.Caller = caller
	}
	return nil
}

// mayAsk checks the rate limit and the rights of an authenticated caller.
func (a *API) mayAsk(ctx context.Context, c *Call, op Operation) error {
	if op.Public {
		return nil
	}
	if c.AccountID != "" {
		account, err := a.limits.Account(ctx, c.AccountID)
		if err != nil {
			return err
		}
		if err := a.rate.Admit(ctx, c.RateAccount(account), c.header); err != nil {
			return err
		}
	}
	caller, err := c.Caller.AllowTest(op.TestAccess())
	if err != nil {
		return err
	}
	c.Caller = caller
	if err := c.AuthorizeOperation(op.Needs, op.Permission()); err != nil {
		return err
	}
	if err := c.RequireReach(op.ID); err != nil {
		return err
	}
	if op.Confirmed {
		return c.RequireConfirmation()
	}
	return nil
}

// maxParameters limits how many invalid query parameters a response lists.
const maxParameters = 100

// checkQuery rejects unknown, empty and repeated parameters, because the intended value would be a guess.
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
			wrong.Add(body.PrintableName(name), "is not a known query parameter")
		case len(values) > 1:
			wrong.Add(name, "cannot be given more than once")
		case values[0] == "":
			wrong.Add(name, "cannot be empty")
		}
	}
	return wrong.Err()
}

// StillAllowed checks the rights of the caller again. Long responses call it repeatedly.
func (c *Call) StillAllowed(r *http.Request, needs rights.Operation) error {
	caller, err := c.api.door.Authenticate(r)
	if err == nil {
		caller, err = caller.AllowTest(c.testAccess)
	}
	if err != nil {
		return err
	}
	return caller.AuthorizeOperation(needs, c.permission)
}

// translateError translates an error, and logs the details that are hidden from the caller.
func (a *API) translateError(ctx context.Context, requestID string, err error) *problem.Problem {
	p := problem.From(err, requestID)
	whole := problem.WithCause(err)
	telemetry.SetError(ctx, p.Body.Code, whole)
	if p.Status == http.StatusInternalServerError {
		if telemetry.IsStranger(ctx) {
			ctx = loglimit.Collapse(ctx, "stranger")
		}
		telemetry.LogFailure(ctx, a.log, "request failed", telemetry.KeyRequestID, requestID, telemetry.KeyError, whole)
	}
	return p
}
