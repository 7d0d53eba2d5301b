// Package rest is the HTTP JSON API: decode, one call of a service, encode.
//
// Everything hangs below /api. A resource is one file with its wire structs, the
// interface that it needs from its service, and a constructor that makes its
// Routes; only the routes of modules that are on are given to New, so a module
// that is off is a 404 and absent from the OpenAPI document.
//
// A request passes, in this order: the bearer key, the rate limit of its account,
// the scope that the operation needs, its query parameters, and only then is its
// body read, within the budget of runtime/intake. Then the handler runs. Every error of a service becomes an answer in errors.go.
package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/intake"
	"github.com/postrider/postrider/runtime/telemetry"
)

// Prefix is the path that everything hangs below.
const Prefix = "/api"

const (
	headerRequestID = telemetry.RequestIDHeader
	jsonType        = "application/json"
)

// Auth tells who the bearer of a key is, without the word Bearer.
type Auth interface {
	Authenticate(ctx context.Context, bearer string) (accounts.Caller, error)
}

// Limits gives the account of a caller, whose plan says how many requests a
// second it may make.
type Limits interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
}

// RateLimit counts one request of an account and sets the ratelimit headers. Its
// refusal is a fault of kind Limit.
type RateLimit interface {
	Admit(ctx context.Context, account accounts.Account, header http.Header) error
}

// Options of New.
type Options struct {
	Auth    Auth
	Limits  Limits
	Rate    RateLimit
	Routes  []Routes // of the modules that are on, in any order
	Logger  *slog.Logger
	Version string         // of the service, shown in the OpenAPI document
	BaseURL string         // where this installation is reached, without /api; empty leaves the document relative
	Budget  *intake.Budget // of bodies, and of answers that are large
}

// Routes are the operations of one resource.
type Routes struct {
	name string
	add  func(*API)
}

// API is the handler of everything below Prefix.
type API struct {
	mux    *router
	huma   huma.API
	auth   Auth
	limits Limits
	rate   RateLimit
	budget *intake.Budget
	log    *slog.Logger

	requestSchemas map[string]*huma.Schema
	document       Document
}

// New makes the API. The order of Options.Routes does not matter.
func New(o Options) (*API, error) {
	if o.Auth == nil || o.Limits == nil || o.Rate == nil || o.Logger == nil || o.Budget == nil {
		return nil, errors.New("rest: Auth, Limits, Rate, Logger and Budget are required")
	}
	a, err := assemble(o)
	if err != nil {
		return nil, err
	}
	return a, a.publish()
}

// assemble registers every route and completes the document.
func assemble(o Options) (*API, error) {
	a := &API{mux: &router{}, auth: o.Auth, limits: o.Limits, log: o.Logger,
		rate: o.Rate, budget: o.Budget, requestSchemas: map[string]*huma.Schema{}}
	a.huma = humago.NewWithPrefix(a.mux, Prefix, humaConfig(o))
	routes := slices.SortedFunc(slices.Values(o.Routes), func(x, y Routes) int { return cmp.Compare(x.name, y.name) })
	for _, r := range routes {
		r.add(a)
	}
	return a, a.complete()
}

// Document is the OpenAPI description of the routes that are on.
func (a *API) Document() Document { return a.document }

// humaConfig switches off what would change our answers: the $schema member, the
// documentation page that loads from a CDN, formats other than JSON.
func humaConfig(o Options) huma.Config {
	return huma.Config{
		OpenAPI:       newDocument(o),
		Formats:       map[string]huma.Format{jsonType: {Marshal: writeJSON, Unmarshal: json.Unmarshal}},
		DefaultFormat: jsonType,
	}
}

// writeJSON leaves < > & as they are, and ends without a line break.
func writeJSON(w io.Writer, v any) error {
	encoded, err := marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(encoded)
	return err
}

func marshal(v any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte{'\n'}), nil
}

// ServeHTTP answers what the router would answer in plain text as JSON, and
// gives every answer a request id.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	// runtime/telemetry has named the request already, unless it is left out.
	if header.Get(headerRequestID) == "" {
		header.Set(headerRequestID, id.New("req"))
	}
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	a.route(w, r)
}

func (a *API) route(w http.ResponseWriter, r *http.Request) {
	// The router would send such a path elsewhere; a redirected POST loses its body.
	if path.Clean(r.URL.Path) != r.URL.Path {
		notFound(r.URL.Path).write(w)
		return
	}
	if pattern := a.mux.Pattern(r); pattern != "" {
		telemetry.SetRoute(r.Context(), pattern)
		a.mux.ServeHTTP(w, r)
		return
	}
	allowed := a.methods(r)
	if len(allowed) == 0 {
		notFound(r.URL.Path).write(w)
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	newProblem(http.StatusMethodNotAllowed, fault.CodeMethodNotAllowed,
		fmt.Sprintf("%s is not allowed here; use %s", shown(r.Method), strings.Join(allowed, ", "))).write(w)
}

// methods lists what a path allows; nothing when the path does not exist.
func (a *API) methods(r *http.Request) []string {
	var allowed []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPatch, http.MethodPost, http.MethodPut} {
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
