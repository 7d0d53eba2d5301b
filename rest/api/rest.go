package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/openapi"
	"github.com/postrider/postrider/rest/api/problem"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/static"
)

// Prefix is the path prefix of all operations.
const Prefix = "/api"

const (
	headerRequestID = telemetry.RequestIDHeader
	jsonType        = "application/json"
)

// Storage counts bytes against the quotas of accounts. Its refusal is a fault of kind Limit or Unavailable.
type Storage interface {
	Charge(ctx context.Context, accountID string, kind storage.DataKind, bytes int64) error
	Refund(ctx context.Context, accountID string, bytes int64)
	Debit(ctx context.Context, accountID string, bytes int64)
}

// Recorder writes operations on a target to the audit log, and returns who performed one last.
type Recorder interface {
	Record(ctx context.Context, c accounts.Caller, operation, target string, changes map[string]any) error
	LastBy(ctx context.Context, accountID, operation, target string, since time.Time) (audit.Actor, error)
}

// Options of New.
type Options struct {
	Auth    admission.Keys
	People  admission.Sessions // signed-in users; nil: none
	Audit   Recorder           // records changes to an account; nil: they are not recorded
	Log     RequestLog         // logs requests; nil: none are logged
	Limits  admission.Limits
	Rate    admission.RateLimit
	Storage Storage     // counts bytes against quotas; nil: nothing is counted
	Answers Idempotency // stores responses by Idempotency-Key
	Sealer  Sealer      // encrypts stored responses that contain a secret
	Routes  []Routes    // routes of the enabled modules, in any order
	Logger  *slog.Logger
	Version string           // version of the service, shown in the OpenAPI document
	BaseURL string           // where this installation is reached, without /api; empty leaves the document relative
	Origins []string         // other URLs under which pages of this installation are served
	Proxies []netip.Prefix   // proxies whose X-Forwarded-For is trusted
	Sender  string           // sender in the samples of the reference page; empty: a placeholder
	Budget  *intake.Budget   // memory for bodies and large responses
	Now     func() time.Time // returns the time that the times in examples follow; nil: the clock of the machine
}

// Routes are the operations of one resource.
type Routes struct {
	name string
	add  func(*API)
}

// NewRoutes returns the routes that add declares. The name determines their order in the document.
func NewRoutes(name string, add func(*API)) Routes { return Routes{name: name, add: add} }

// API is the handler of everything below Prefix.
type API struct {
	mux     *router
	huma    huma.API
	door    *admission.Authenticator
	audit   Recorder
	readers map[string]func(ctx context.Context, accountID, id string) (any, error) // by path
	seen    RequestLog
	limits  admission.Limits
	proxies []netip.Prefix
	base    string // URL of this installation
	rate    admission.RateLimit
	storage Storage // nil: nothing is counted
	answers keeper
	budget  *intake.Budget
	bound   map[string]DomainScoped // by the noun
	log     *slog.Logger

	bodies   body.Components
	sender   string
	document openapi.Document
	now      func() time.Time

	operations []Operation // all of them
}

// New returns the API. The order of Options.Routes does not matter.
func New(o Options) (*API, error) {
	if o.Auth == nil || o.Limits == nil || o.Rate == nil || o.Answers == nil || o.Sealer == nil || o.Logger == nil ||
		o.Budget == nil {
		return nil, errors.New("rest: Auth, Limits, Rate, Answers, Sealer, Logger and Budget are required")
	}
	a, err := assemble(o)
	if err != nil {
		return nil, err
	}
	a.publish()
	return a, nil
}

// assemble registers every route and completes the document.
func assemble(o Options) (*API, error) {
	door, err := admission.New(o.Auth, o.People, o.Proxies, append([]string{o.BaseURL}, o.Origins...)...)
	if err != nil {
		return nil, fmt.Errorf("rest: %w", err)
	}
	a := &API{mux: &router{}, readers: map[string]func(context.Context, string, string) (any, error){}, door: door, audit: o.Audit, seen: o.Log, limits: o.Limits, log: o.Logger,
		proxies: o.Proxies, base: o.BaseURL,
		rate: o.Rate, storage: o.Storage, answers: keeper{o.Answers, o.Sealer}, budget: o.Budget,
		bound: map[string]DomainScoped{}, bodies: body.Components{}, sender: o.Sender, now: o.Now}
	if a.now == nil {
		a.now = time.Now
	}
	a.huma = humago.NewWithPrefix(a.mux, Prefix, humaConfig(o))
	routes := slices.SortedFunc(slices.Values(o.Routes), func(x, y Routes) int { return cmp.Compare(x.name, y.name) })
	for _, r := range routes {
		r.add(a)
	}
	a.document, err = openapi.Finish(a.huma.OpenAPI(), a.bodies)
	return a, err
}

// DocumentOf describes the API of some routes without serving it. Their services can be nil pointers.
func DocumentOf(version, baseURL string, routes ...Routes) (openapi.Document, error) {
	a, err := assemble(Options{Version: version, BaseURL: baseURL, Routes: routes})
	if err != nil {
		return openapi.Document{}, err
	}
	return a.document, nil
}

// Patterns lists every route: the operations, and the documents that describe them.
func (a *API) Patterns() []string { return a.mux.patterns }

// Document returns the OpenAPI document of the enabled routes.
func (a *API) Document() openapi.Document { return a.document }

// humaConfig disables the features that would change our responses: the $schema field, the documentation page that
// loads from a CDN, and formats other than JSON.
func humaConfig(o Options) huma.Config {
	return huma.Config{
		OpenAPI: openapi.New(o.Version, strings.TrimSuffix(o.BaseURL, "/")+Prefix,
			admission.CookieName(o.BaseURL)),
		Formats:       map[string]huma.Format{jsonType: {Marshal: writeJSON, Unmarshal: json.Unmarshal}},
		DefaultFormat: jsonType,
		Transformers:  []huma.Transformer{encodeBody},
	}
}

// encodedBody is a body as JSON, and in the content coding of the response.
type encodedBody struct{ plain, sent []byte }

// encodeBody encodes the body of a response before its header is sent. Only responses to reads are compressed, because
// they contain no secrets: if a secret is compressed together with text that the caller chose, the size reveals the
// secret (BREACH).
func encodeBody(ctx huma.Context, _ string, v any) (any, error) {
	plain, ok := v.(json.RawMessage)
	if !ok {
		var err error
		if plain, err = wire.Marshal(v); err != nil {
			return nil, err
		}
	}
	if ctx.Method() != http.MethodGet {
		return encodedBody{plain, plain}, nil
	}
	header := http.Header{}
	sent := static.Encode(header, ctx.Header("Accept-Encoding"), plain)
	for name := range header {
		ctx.SetHeader(name, header.Get(name))
	}
	return encodedBody{plain, sent}, nil
}

func writeJSON(w io.Writer, v any) error {
	body, ok := v.(encodedBody)
	if !ok {
		encoded, err := wire.Marshal(v)
		if err != nil {
			return err
		}
		body = encodedBody{encoded, encoded}
	}
	if o, is := w.(*observed); is {
		return o.writeEncoded(body)
	}
	_, err := w.Write(body.sent)
	return err
}

// ServeHTTP returns the router's plain text responses as JSON, and adds a request id to every response.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	// runtime/base/telemetry has already set the request id, unless it ignores the path.
	if header.Get(headerRequestID) == "" {
		header.Set(headerRequestID, id.New("req"))
	}
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	if a.seen == nil {
		a.route(w, r)
		return
	}
	o := observe(a.seen, w, r)
	defer o.storeRequest()
	a.route(o, r)
	o.ended = true
}

func (a *API) route(w http.ResponseWriter, r *http.Request) {
	// The router would redirect such a path, and a redirected POST loses its body.
	if path.Clean(r.URL.Path) != r.URL.Path {
		problem.NotFound(r.URL.Path).Write(w)
		return
	}
	if pattern := a.mux.Pattern(r); pattern != "" {
		telemetry.SetRoute(r.Context(), pattern)
		a.mux.ServeHTTP(w, r)
		return
	}
	allowed := a.allowedMethods(r)
	if len(allowed) == 0 {
		problem.NotFound(r.URL.Path).Write(w)
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	problem.New(http.StatusMethodNotAllowed, fault.CodeMethodNotAllowed,
		fmt.Sprintf("Method %s not allowed: use %s", body.PrintableName(r.Method), strings.Join(allowed, ", "))).
		Write(w)
}

// allowedMethods returns the methods of a path; nil if the path does not exist.
func (a *API) allowedMethods(r *http.Request) []string {
	var allowed []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPatch,
		http.MethodPost, http.MethodPut} {
		probe := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if a.mux.Pattern(probe) != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 {
		allowed = append(allowed, http.MethodOptions)
	}
	return allowed
}
