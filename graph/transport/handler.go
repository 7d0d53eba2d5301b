package transport

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
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
	Budget   *intake.Budget // of bodies, and of answers that are large
	Executor *executor.Executor
	Trusted  trusted.Documents // as keys run them
	Pruned   trusted.Documents // as people do
	Open     bool              // people may run any query
	Errors   refusal.Presenter
	Audit    Recorder       // of mutations; nil: none is recorded
	Proxies  []netip.Prefix // whose X-Forwarded-For counts
	Logger   *slog.Logger
}

// New returns the handler, for any method.
func New(o Options) http.Handler {
	return &handler{door: o.Door, rate: o.Rate, accounts: o.Accounts, budget: o.Budget, exec: o.Executor,
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
	trusted  trusted.Documents // as keys run them
	pruned   trusted.Documents // as people do
	open     bool              // people may run any query
	errors   refusal.Presenter
	proxies  []netip.Prefix
	audit    Recorder // nil: nothing is recorded
	logger   *slog.Logger
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		h.refuse(w, r, http.StatusMethodNotAllowed, &fault.Error{Code: fault.CodeMethodNotAllowed,
			Message: "GraphQL requests are POST with a JSON body"})
		return
	}
	began := time.Now()
	caller, err := h.door.Admit(w, r, h.accounts, h.rate)
	left := fault.AnswerWithin - time.Since(began)
	if err != nil {
		h.refuseError(w, r, err)
		return
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != mediaJSON {
		h.refuse(w, r, http.StatusUnsupportedMediaType, &fault.Error{Code: fault.CodeUnsupportedMediaType,
			Message: "The Content-Type must be application/json"})
		return
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		h.refuse(w, r, http.StatusUnsupportedMediaType, &fault.Error{Code: fault.CodeUnsupportedMediaType,
			Message: "The body must not be compressed: send it without Content-Encoding"})
		return
	}
	owner := intake.Tenant{Account: caller.AccountID}
	body, err := h.budget.RequestBody(w, r, owner, limits.Body)
	if err != nil {
		h.refuseBody(w, r, err)
		return
	}
	origin := audit.Origin{Addr: clientip.From(r, h.proxies), Agent: r.UserAgent(), RequestID: w.Header().
		Get(telemetry.RequestIDHeader)}
	ctx := graphql.StartOperationTrace(inquiry.WithCaller(audit.WithOrigin(r.Context(), origin), caller))
	timed, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	operation, status, answer := h.prepare(timed, caller, body)
	body.Close()
	switch {
	case answer != nil:
		h.answer(w, r, status, answer)
	case operation.Operation.Operation == ast.Subscription:
		h.subscribe(ctx, w, r, operation)
	case selectsBodies(operation):
		status, answer, release := h.runBodies(timed, owner, operation)
		if isStreamed(r, status) {
			h.streamOnce(w, r, answer, release)
			return
		}
		h.answer(w, r, status, answer)
		release() // the budget holds the response now
	default:
		status, answer = h.run(timed, operation)
		h.record(ctx, caller, operation, answer)
		if isStreamed(r, status) {
			h.streamOnce(w, r, answer, func() {})
			return
		}
		h.answer(w, r, status, answer)
	}
}

// prepare reads and validates one GraphQL request. A returned response is a refusal.
func (h *handler) prepare(ctx context.Context, caller accounts.Caller,
	body *intake.Content) (operation *graphql.OperationContext, status int, answer *graphql.Response) {
	defer func() {
		if value := recover(); value != nil {
			status, answer = http.StatusInternalServerError, h.answerPanic(ctx, value)
		}
	}()
	request, wrong := h.decode(caller, body.Reader())
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
	return &graphql.Response{Errors: gqlerror.List{h.errors.Present(ctx, h.errors.Recovered(ctx, value))}}
}

// run executes one GraphQL request.
func (h *handler) run(ctx context.Context, operation *graphql.OperationContext) (status int, answer *graphql.Response) {
	defer func() { // fields recover on their own
		if value := recover(); value != nil {
			status, answer = http.StatusInternalServerError, h.answerPanic(ctx, value)
		}
	}()
	responses, ctx := h.exec.DispatchOperation(ctx, operation)
	answer = responses(ctx)
	if answer == nil { // the time was up before it began
		answer = &graphql.Response{Errors: gqlerror.List{h.errors.Present(ctx, fault.DatabaseUnavailable(ctx.Err()))}}
	}
	if refusal.Has(answer.Errors, fault.CodeUnavailable) {
		return http.StatusServiceUnavailable, answer
	}
	return h.boundResponse(ctx, answer)
}

// decode reads a request of "GraphQL over HTTP". Its errors do not contain the body. Signed-in users can
// run trusted documents only.
func (h *handler) decode(caller accounts.Caller, from io.Reader) (*graphql.RawParams, *gqlerror.Error) {
	body := bufio.NewReader(from)
	if first, err := firstOctet(body); err == nil && first == '[' {
		return nil, gqlerror.Errorf("Batches are not supported: send one request at a time")
	}
	var request *struct {
		Query         string         `json:"query"`
		DocumentID    string         `json:"documentId"`
		OperationName string         `json:"operationName"`
		Variables     map[string]any `json:"variables"`
		Extensions    map[string]any `json:"extensions"`
	}
	decoder := json.NewDecoder(body)
	decoder.UseNumber()
	err := decoder.Decode(&request)
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mismatch) && mismatch.Field != "":
		return nil, gqlerror.Errorf("The member %q of the request has the wrong type", mismatch.Field)
	case err != nil || request == nil || decoder.More():
		return nil, gqlerror.Errorf("The body must be one JSON object with the member query")
	case request.DocumentID != "":
		documents := h.trusted
		if caller.Person != nil {
			documents = h.pruned
		}
		text, unknown := documents.Text(request.DocumentID)
		if unknown != nil && (!h.open || request.Query == "") {
			return nil, unknown
		}
		request.Query = cmp.Or(text, request.Query)
	case request.Query == "":
		return nil, gqlerror.Errorf("The member \"query\" of the request is missing")
	case caller.Person != nil && !h.open:
		return nil, trusted.Refuse()
	}
	return &graphql.RawParams{Query: request.Query, OperationName: request.OperationName, Variables: request.Variables,
		Extensions: request.Extensions}, nil
}

// firstOctet returns the first byte of the body after white space.
func firstOctet(body *bufio.Reader) (byte, error) {
	for {
		c, err := body.ReadByte()
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n", rune(c)) {
			return c, body.UnreadByte()
		}
	}
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
		h.logger.ErrorContext(r.Context(), "GraphQL answer cannot be encoded", telemetry.KeyError, err)
		status, media, out = http.StatusInternalServerError, mediaJSON, []byte(`{"error":{"message":"Internal error"}}`)
	}
	out = static.Encode(w.Header(), r.Header.Get("Accept-Encoding"), out)
	h.begin(w, status, media)
	if _, err := w.Write(out); err != nil { //nolint:gosec // JSON, with nosniff
		h.logger.DebugContext(r.Context(), "GraphQL answer not taken", telemetry.KeyError, err)
	}
}

// boundResponse returns a response that is not too large, or refuses it as a whole, because a partial response
// would look complete.
func (h *handler) boundResponse(ctx context.Context, answer *graphql.Response) (int, *graphql.Response) {
	if len(answer.Data) <= limits.Result && !refusal.Has(answer.Errors, refusal.CodeResultTooLarge) {
		return http.StatusOK, answer
	}
	err := refusal.Coded(refusal.CodeResultTooLarge, limits.ResultTooLarge)
	return http.StatusBadRequest, &graphql.Response{Errors: gqlerror.List{h.errors.Present(ctx, err)}}
}
