package compat

import (
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/apilog"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/clientip"
)

// Provider describes the API of a provider.
type Provider struct {
	Prefix string // path of the provider's base URL, without a trailing slash
	Key    func(*http.Request) string
	Fail   func(*RefusalError) any // returns the error body of the provider
	Routes []Route                 // the first one that matches serves the request
}

// Route is an operation of a provider.
type Route struct {
	// Method is empty if the route serves every method.
	Method string
	// Path follows the prefix. A segment in braces matches any segment; a last segment `{...}` matches the rest of
	// the path, which may be empty.
	Path   string
	Limit  int64 // bytes of the body; 0: 1 MB
	Handle func(*Call) (*Response, error)
}

// Options of New.
type Options struct {
	API      http.Handler // serves our own API
	Keys     admission.Keys
	Accounts admission.Limits
	Rate     admission.RateLimit // nil: requests are not counted
	Budget   *intake.Budget      // memory for bodies, and for responses of our own API
	Cursors  *page.Codec
	Log      api.RequestLog // logs requests; nil: none are logged
	Proxies  []netip.Prefix // proxies whose X-Forwarded-For is trusted
	Logger   *slog.Logger
}

type handler struct {
	Options
	Provider
}

// New returns the handler of a provider's paths.
func New(o Options, p Provider) http.Handler { return &handler{o, p} }

// Patterns lists the routes as patterns of http.ServeMux.
func (p Provider) Patterns() []string {
	var patterns []string
	for _, r := range p.Routes {
		path := strings.TrimSuffix(p.Prefix+r.Path, "/{...}")
		if path != p.Prefix+r.Path {
			path += "/"
		}
		patterns = append(patterns, strings.TrimSpace(r.Method+" "+path))
	}
	return patterns
}

// ServeHTTP serves every request below the prefix in the provider's format.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	if header.Get(telemetry.RequestIDHeader) == "" {
		header.Set(telemetry.RequestIDHeader, id.New("req"))
	}
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	c := &Call{w: w, r: r, h: h, Query: r.URL.Query(), remote: clientip.From(r, h.Proxies), begun: time.Now()}
	defer c.close()
	answer, err := h.serve(c)
	if err != nil {
		if err = admission.Forward(w, r, c.remote, h.Budget, err); err == nil {
			return
		}
		answer = h.refuse(c, err)
		if c.inner == 0 && c.route != "" { // our own API logs the requests that reach it
			h.logRefusal(c, answer)
		}
	}
	answer.write(w)
}

// logRefusal adds a request that was refused here to the API log. It logs the pattern of the route, because a path can
// contain an address.
func (h *handler) logRefusal(c *Call, answer *Response) {
	account := c.caller.AccountID
	if h.Log == nil || account == "" || !h.Log.Keep(account, answer.Status) {
		return
	}
	_, path, _ := strings.Cut(c.route, h.Prefix)
	seen := &apilog.Seen{ID: c.w.Header().Get(telemetry.RequestIDHeader), AccountID: account, Method: c.r.Method,
		Path: h.Prefix + path, Operation: strings.TrimPrefix(h.Prefix, "/"), Status: answer.Status,
		APIKeyID: c.caller.KeyID, IP: audit.Origin{Addr: c.remote}.IP(), At: c.begun, Took: time.Since(c.begun)}
	if encoded, err := json.Marshal(answer.Body); err == nil {
		seen.Answered = apilog.CapturedBody{Raw: encoded, Size: int64(len(encoded)), Media: "application/json"}
	}
	if c.body != nil {
		seen.Asked.Size = c.body.Size()
	}
	h.Log.Add(seen)
}

func (h *handler) serve(c *Call) (*Response, error) {
	route, params, allowed := h.find(c.r.Method, c.r.URL)
	if route != nil {
		c.route = strings.TrimSpace(route.Method + " " + h.Prefix + route.Path)
		telemetry.SetRoute(c.r.Context(), c.route)
	}
	if err := c.authenticate(h.Key(c.r)); err != nil {
		return nil, err
	}
	switch {
	case route != nil && isOperationName(params["id"]):
		return nil, NotFound("object: " + params["id"])
	case route != nil:
		c.params, c.limit = params, route.Limit
		return route.Handle(c)
	case len(allowed) > 0:
		c.w.Header().Set("Allow", strings.Join(allowed, ", "))
		return nil, &RefusalError{Status: http.StatusMethodNotAllowed, Code: fault.CodeMethodNotAllowed,
			Message: "Method not allowed: use " + strings.Join(allowed, ", ")}
	}
	return nil, &RefusalError{Status: http.StatusNotFound, Code: fault.CodeNotFound,
		Message: "This call is not supported: Postrider has no such path below " + h.Prefix}
}

// refuse returns the response to an error.
func (h *handler) refuse(c *Call, err error) *Response {
	var refusal *RefusalError
	if !errors.As(err, &refusal) {
		refusal = refusalOf(err, c.w.Header())
		if refusal.Status == http.StatusInternalServerError {
			telemetry.LogFailure(c.r.Context(), h.Logger, "request failed", telemetry.KeyRequestID,
				c.w.Header().Get(telemetry.RequestIDHeader), telemetry.KeyError, err)
		}
	}
	telemetry.SetError(c.r.Context(), refusal.Code, err)
	body := h.Fail(refusal) // can change the status
	return &Response{Status: refusal.Status, Header: refusal.Header, Body: body}
}

// find returns the route of a request with the segments that its braces match, or the allowed methods of the path.
func (h *handler) find(method string, at *url.URL) (found *Route, params map[string]string, allowed []string) {
	given := strings.Split(strings.TrimPrefix(at.EscapedPath(), h.Prefix), "/")
	for i := range h.Routes {
		r := &h.Routes[i]
		params, matches := matchPath(strings.Split(r.Path, "/"), given)
		switch {
		case !matches:
		case r.Method == "" || r.Method == method:
			return r, params, nil
		case !slices.Contains(allowed, r.Method):
			allowed = append(allowed, r.Method)
		}
	}
	return nil, nil, allowed
}

// isOperationName reports whether a value could be the name of an operation of our own API, such as export in
// /emails/export. IDs contain an underscore and a number.
func isOperationName(id string) bool {
	return id != "" && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz-") == ""
}

func matchPath(pattern, given []string) (map[string]string, bool) {
	params := map[string]string{}
	for i, segment := range pattern {
		if segment == "{...}" {
			return params, true
		}
		if i >= len(given) {
			return nil, false
		}
		value, err := url.PathUnescape(given[i])
		if err != nil {
			return nil, false
		}
		switch {
		case !strings.HasPrefix(segment, "{"):
			if segment != value {
				return nil, false
			}
		case value == "" || value == "." || value == "..":
			return nil, false
		default:
			params[strings.Trim(segment, "{}")] = value
		}
	}
	return params, len(pattern) == len(given)
}

// Response is the response to a call.
type Response struct {
	Status int // 0: 200
	Header http.Header
	Body   any // encoded as JSON; nil: none
}

// OK returns a successful response.
func OK(body any) (*Response, error) { return &Response{Body: body}, nil }

func (a *Response) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.Header)
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	if a.Body == nil {
		w.WriteHeader(a.Status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.Status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(a.Body); err != nil {
		return // the client has disconnected
	}
}
