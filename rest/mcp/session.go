package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/fault"
)

type sessionKey struct{}

// sessionOf returns the session of an MCP message, or nil outside of one.
func sessionOf(ctx context.Context) *session {
	s, _ := ctx.Value(sessionKey{}).(*session)
	return s
}

// session is the caller of one MCP message, and calls the API on its behalf.
type session struct {
	handler *Handler
	caller  accounts.Caller
	origin  *http.Request // only its headers and addresses; the request may be over
}

// forwarded are the header fields that identify the caller and its origin.
var forwarded = []string{"Authorization", "Cookie", "Origin", "Sec-Fetch-Site", admission.HeaderAccount, "Forwarded",
	"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Real-Ip", "Accept-Language"}

func newSession(h *Handler, caller accounts.Caller, r *http.Request) *session {
	origin := &http.Request{Host: r.Host, RemoteAddr: r.RemoteAddr, TLS: r.TLS, Proto: r.Proto,
		ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor, Header: http.Header{}}
	for _, name := range forwarded {
		if values := r.Header.Values(name); len(values) > 0 {
			origin.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	origin.Header.Set("User-Agent", strings.TrimSpace(r.UserAgent()+" (MCP)"))
	return &session{handler: h, caller: caller, origin: origin}
}

// request is a call of a REST operation.
type request struct {
	operation string
	id        string     // ID in the path
	query     url.Values // empty values are left out
	body      any        // nil: none
	header    map[string]string
}

// may reports whether the caller may use a REST operation. A tool checks this before an optional call.
func (s *session) may(operation string) bool { return s.handler.mayCall(s.caller, operation) }

// call calls a REST operation and decodes its response. A refusal of the API is a *callError.
func (s *session) call(ctx context.Context, q request, into any) (http.Header, error) {
	op, served := s.handler.options.API.LookupOperation(q.operation)
	if !served {
		return nil, fmt.Errorf("operation %s is not served", q.operation)
	}
	if strings.Contains(op.Path, "{id}") && !strings.ContainsAny(q.id, "_@") {
		// Neither an ID nor an address: it could be the name of another operation, such as export.
		return nil, &callError{Status: http.StatusNotFound, Code: fault.CodeNotFound, Message: "No such object"}
	}
	target := &url.URL{Path: api.Prefix + strings.Replace(op.Path, "{id}", q.id, 1)}
	target.RawPath = api.Prefix + strings.Replace(op.Path, "{id}", url.PathEscape(q.id), 1)
	query := url.Values{}
	for name, values := range q.query {
		if len(values) == 1 && values[0] != "" {
			query[name] = values
		}
	}
	target.RawQuery = query.Encode()
	return s.roundTrip(ctx, s.handler.options.API, op.Method, target, q, into)
}

// queryGraph runs one of the documents of this package and decodes its data.
func (s *session) queryGraph(ctx context.Context, d document, variables map[string]any, into any) error {
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	q := request{body: map[string]any{"documentId": d.id(), "variables": variables}}
	if _, err := s.roundTrip(ctx, s.handler.options.GraphQL, http.MethodPost, &url.URL{Path: "/graphql"}, q,
		&answer); err != nil {
		return err
	}
	if len(answer.Errors) > 0 {
		return &callError{Status: http.StatusBadRequest, Message: answer.Errors[0].Message}
	}
	return json.Unmarshal(answer.Data, into)
}

func (s *session) roundTrip(ctx context.Context, to http.Handler, method string, target *url.URL, q request,
	into any) (http.Header, error) {
	// The API records the route and the caller of a request in its context. This one has neither: the message
	// that the context belongs to may be over before the tool.
	inner, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	r := s.origin.Clone(inner)
	r.Method, r.URL, r.RequestURI, r.Body = method, target, target.RequestURI(), http.NoBody
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	if q.body != nil {
		encoded, err := json.Marshal(q.body)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(encoded)), int64(len(encoded))
	}
	w := &recorder{header: http.Header{}}
	to.ServeHTTP(w, r)
	return w.header, w.decode(into)
}

// mayQuery reports whether the caller may read a root field of GraphQL.
func (s *session) mayQuery(field string, right rights.Operation) bool {
	return s.caller.Authorize(right) == nil && s.caller.RequireReach("Query."+field) == nil
}
