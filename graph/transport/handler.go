package transport

import (
	"context"
	"log/slog"
	"mime"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/postrider/postrider/graph/inquiry"
	"github.com/postrider/postrider/graph/limits"
	"github.com/postrider/postrider/graph/refusal"
	"github.com/postrider/postrider/graph/trusted"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/clientip"
	"github.com/postrider/postrider/runtime/web/static"
)

const (
	mediaJSON     = "application/json"
	mediaResponse = "application/graphql-response+json"

	retryAfter = 5 * time.Second
)

// Options are the dependencies of New.
type Options struct {
	Door     *admission.Authenticator
	Rate     admission.RateLimit // nil: requests are not counted
	Accounts admission.Limits
	Budget   *intake.Budget // memory for bodies and large responses
	Executor *executor.Executor
	Trusted  trusted.Documents // for API keys
	Pruned   trusted.Documents // for signed-in users, limited to enabled modules
	Open     bool              // signed-in users can run any query
	Errors   refusal.Presenter
	Audit    Recorder       // records mutations; nil: none are recorded
	Proxies  []netip.Prefix // proxies whose X-Forwarded-For is trusted
	Logger   *slog.Logger
}

// New returns the handler, for any method.
func New(o Options) http.Handler {
	return &handler{sockets: limit.NewKeyed[string](socketBounds), door: o.Door, rate: o.Rate, accounts: o.Accounts,
		budget: o.Budget, exec: o.Executor,
		trusted: o.Trusted, pruned: o.Pruned, open: o.Open, errors: o.Errors,
		audit: o.Audit, proxies: o.Proxies, logger: o.Logger}
}

// handler serves HTTP. See the package comment for why it replaces gqlgen's.
type handler struct {
	door     *admission.Authenticator
	rate     admission.RateLimit
	accounts admission.Limits
	budget   *intake.Budget
	exec     *executor.Executor
	trusted  trusted.Documents // for API keys
	pruned   trusted.Documents // for signed-in users, limited to enabled modules
	open     bool              // signed-in users can run any query
	errors   refusal.Presenter
	proxies  []netip.Prefix
	audit    Recorder // nil: nothing is recorded
	logger   *slog.Logger
	sockets  *limit.Keyed[string] // WebSocket connections, by account
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case isUpgrade(r):
		h.serveSocket(w, r)
		return
	case r.Method != http.MethodPost && r.Method != http.MethodGet:
		h.refuseMethod(w, r, "GET, POST", "GraphQL requests are POST with a JSON body, or GET for queries")
		return
	case r.Method == http.MethodGet && isForeignRead(r):
		h.refuseError(w, r, admission.ErrCrossOrigin())
		return
	}
	began := time.Now()
	caller, err := h.door.Admit(w, r, h.accounts, h.rate)
	left := fault.AnswerWithin - time.Since(began)
	if err != nil {
		if err = admission.Forward(w, r, clientip.From(r, h.proxies), h.budget, err); err != nil {
			h.refuseError(w, r, err)
		}
		return
	}
	owner := intake.Tenant{Account: caller.AccountID}
	read := func() (*rawRequest, *gqlerror.Error) { return decodeURL(r.URL.Query()) }
	if r.Method == http.MethodPost {
		body, ok := h.readBody(w, r, owner)
		if !ok {
			return
		}
		defer body.Close()
		read = func() (*rawRequest, *gqlerror.Error) {
			request, wrong := decodeJSON(body.Reader())
			body.Close() // free its share of the budget early
			return request, wrong
		}
	}
	ctx := h.openOperation(r.Context(), r, caller, w.Header().Get(telemetry.RequestIDHeader))
	timed, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	operation, status, answer := h.prepare(timed, caller, read)
	switch {
	case answer != nil:
		h.answer(w, r, status, answer)
	case r.Method == http.MethodGet && operation.Operation.Operation == ast.Mutation:
		h.refuseMethod(w, r, http.MethodPost, "A mutation cannot be sent with GET: use POST")
	case operation.Operation.Operation == ast.Subscription:
		h.subscribe(ctx, w, r, operation)
	default:
		status, answer, release := h.execute(timed, owner, caller, operation)
		if isStreamed(r, status) {
			h.streamOnce(w, r, answer, release)
			return
		}
		h.answer(w, r, status, answer)
		release() // the response has its own share of the budget now
	}
}

func (h *handler) refuseMethod(w http.ResponseWriter, r *http.Request, allow, message string) {
	w.Header().Set("Allow", allow)
	h.refuse(w, r, http.StatusMethodNotAllowed, &fault.Error{Code: fault.CodeMethodNotAllowed, Message: message})
}

// isForeignRead reports whether a browser sends a GET with a session cookie on behalf of another site. The request
// could not change anything, and the site could not read the response, but it would cost time.
func isForeignRead(r *http.Request) bool {
	_, hasKey := r.Header["Authorization"]
	site := r.Header.Get("Sec-Fetch-Site")
	return !hasKey && site != "" && site != "same-origin" && site != "none"
}

// readBody reads the body of a POST within the budget. If it responds with an error, ok is false.
func (h *handler) readBody(w http.ResponseWriter, r *http.Request, owner intake.Tenant) (_ *intake.Content, ok bool) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != mediaJSON {
		h.refuse(w, r, http.StatusUnsupportedMediaType, &fault.Error{Code: fault.CodeUnsupportedMediaType,
			Message: "The Content-Type must be application/json"})
		return nil, false
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		h.refuse(w, r, http.StatusUnsupportedMediaType, &fault.Error{Code: fault.CodeUnsupportedMediaType,
			Message: "The body must not be compressed: send it without Content-Encoding"})
		return nil, false
	}
	body, err := h.budget.RequestBody(w, r, owner, limits.Body)
	if err != nil {
		h.refuseBody(w, r, err)
		return nil, false
	}
	return body, true
}

// openOperation returns the context of an operation that arrived with a request.
func (h *handler) openOperation(ctx context.Context, r *http.Request, caller accounts.Caller,
	requestID string) context.Context {
	origin := audit.Origin{Addr: clientip.From(r, h.proxies), Agent: r.UserAgent(), RequestID: requestID}
	ctx = inquiry.WithOrigin(ctx, &inquiry.Origin{Request: r, RequestID: requestID})
	return graphql.StartOperationTrace(inquiry.WithCaller(audit.WithOrigin(ctx, origin), caller))
}

// execute runs a query or mutation and records mutations. The caller must call release once it has sent the response.
func (h *handler) execute(ctx context.Context, owner intake.Tenant, caller accounts.Caller,
	operation *graphql.OperationContext) (status int, answer *graphql.Response, release func()) {
	if selectsBodies(operation) {
		status, answer, release = h.runBodies(ctx, owner, operation)
	} else {
		status, answer = h.run(ctx, operation)
		release = func() {}
	}
	h.record(ctx, caller, operation, answer)
	return status, answer, release
}

// prepare reads and validates one GraphQL request. A returned response is a refusal.
func (h *handler) prepare(ctx context.Context, caller accounts.Caller,
	read func() (*rawRequest, *gqlerror.Error)) (operation *graphql.OperationContext, status int,
	answer *graphql.Response) {
	defer func() {
		if value := recover(); value != nil {
			status, answer = http.StatusInternalServerError, h.answerPanic(ctx, value)
		}
	}()
	raw, wrong := read()
	var request *graphql.RawParams
	if wrong == nil {
		request, wrong = h.resolveDocument(caller, raw)
	}
	if wrong != nil {
		return nil, http.StatusBadRequest, h.exec.DispatchError(ctx, gqlerror.List{wrong})
	}
	operation, errs := h.exec.CreateOperationContext(ctx, request)
	if errs != nil {
		errs = errs[:min(len(errs), limits.Mistakes)]
		return nil, http.StatusBadRequest, h.exec.DispatchError(graphql.WithOperationContext(ctx, operation), errs)
	}
	return operation, 0, nil
}

func (h *handler) answerPanic(ctx context.Context, value any) *graphql.Response {
	return &graphql.Response{Errors: gqlerror.List{h.errors.Present(ctx, h.errors.LogPanic(ctx, value))}}
}

// run executes a GraphQL request.
func (h *handler) run(ctx context.Context, operation *graphql.OperationContext) (status int, answer *graphql.Response) {
	defer func() { // fields recover on their own
		if value := recover(); value != nil {
			status, answer = http.StatusInternalServerError, h.answerPanic(ctx, value)
		}
	}()
	responses, ctx := h.exec.DispatchOperation(ctx, operation)
	answer = responses(ctx)
	if answer == nil { // the time limit passed before it started
		answer = &graphql.Response{Errors: gqlerror.List{h.errors.Present(ctx, fault.DatabaseUnavailable(ctx.Err()))}}
	}
	if refusal.HasCode(answer.Errors, fault.CodeUnavailable) {
		return http.StatusServiceUnavailable, answer
	}
	return h.boundResponse(ctx, answer)
}

func (h *handler) answer(w http.ResponseWriter, r *http.Request, status int, answer *graphql.Response) {
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", fault.FormatSeconds(retryAfter))
	}
	h.write(w, r, status, mediaFor(r), answer)
}

func mediaFor(r *http.Request) string {
	if strings.Contains(r.Header.Get("Accept"), mediaResponse) {
		return mediaResponse
	}
	return mediaJSON
}

func (h *handler) begin(w http.ResponseWriter, status int, media string) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
}

func (h *handler) write(w http.ResponseWriter, r *http.Request, status int, media string, body any) {
	out, err := encode(body)
	if err != nil {
		h.logger.ErrorContext(r.Context(), "cannot encode a GraphQL response", telemetry.KeyError, err)
		status, media, out = http.StatusInternalServerError, mediaJSON, []byte(`{"error":{"message":"Internal error"}}`)
	}
	out = static.Encode(w.Header(), r.Header.Get("Accept-Encoding"), out)
	h.begin(w, status, media)
	if _, err := w.Write(out); err != nil { //nolint:gosec // JSON, with nosniff
		h.logger.DebugContext(r.Context(), "client closed the connection", telemetry.KeyError, err)
	}
}

// boundResponse returns a response that is not too large, or refuses it as a whole, because a partial response
// would look complete.
func (h *handler) boundResponse(ctx context.Context, answer *graphql.Response) (int, *graphql.Response) {
	if len(answer.Data) <= limits.Result && !refusal.HasCode(answer.Errors, refusal.CodeResultTooLarge) {
		return http.StatusOK, answer
	}
	err := refusal.NewError(refusal.CodeResultTooLarge, limits.ResultTooLarge)
	return http.StatusBadRequest, &graphql.Response{Errors: gqlerror.List{h.errors.Present(ctx, err)}}
}
