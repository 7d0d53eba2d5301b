package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/web/loopback"
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
	client  *http.Request
}

// forwarded are the header fields that identify the caller and its origin.
var forwarded = append([]string{admission.HeaderAccount, accounts.HeaderMode}, loopback.ClientFields...)

func newSession(h *Handler, caller accounts.Caller, r *http.Request) *session {
	client := loopback.CopyClient(r, forwarded...)
	client.Header.Set("User-Agent", strings.TrimSpace(r.UserAgent()+" (MCP)"))
	return &session{handler: h, caller: caller, client: client}
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
	query := url.Values{}
	for name, values := range q.query {
		if len(values) == 1 && values[0] != "" {
			query[name] = values
		}
	}
	return s.roundTrip(ctx, s.handler.options.API, loopback.Call{Client: s.client, Method: op.Method, Query: query,
		Path: api.Prefix + strings.Replace(op.Path, "{id}", url.PathEscape(q.id), 1), Header: q.header, Body: q.body}, into)
}

// queryGraph runs one of the documents of this package and decodes its data.
func (s *session) queryGraph(ctx context.Context, d document, variables map[string]any, into any) error {
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	call := loopback.Call{Client: s.client, Method: http.MethodPost, Path: "/graphql",
		Body: map[string]any{"documentId": d.id(), "variables": variables}}
	if _, err := s.roundTrip(ctx, s.handler.options.GraphQL, call, &answer); err != nil {
		return err
	}
	if len(answer.Errors) > 0 {
		return &callError{Status: http.StatusBadRequest, Message: answer.Errors[0].Message}
	}
	return json.Unmarshal(answer.Data, into)
}

func (s *session) roundTrip(ctx context.Context, to http.Handler, call loopback.Call, into any) (http.Header, error) {
	inner, cancel := loopback.Detach(ctx)
	defer cancel()
	text := &recorder{}
	response, err := call.Do(inner, to, text)
	if err != nil {
		return nil, err
	}
	return response.Header(), text.decode(response, into)
}

// mayQuery reports whether the caller may read a root field of GraphQL.
func (s *session) mayQuery(field string, right rights.Operation) bool {
	return mayQuery(s.caller, field, right)
}
