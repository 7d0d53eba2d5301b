// Package resend serves the API of Resend, for Resend's official libraries.
package resend

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/postrider/postrider/rest/compat"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Prefix is the path of the base URL.
const Prefix = "/resend"

const (
	emailLimit = 40 << 20 // bytes: the limit of Resend for an email with its attachments
	batchLimit = 20 << 20
)

// API describes the provider.
func API() compat.Provider {
	var routes []compat.Route
	for _, of := range [][]compat.Route{receivedRoutes(), emailRoutes(), domainRoutes(), keyRoutes(), webhookRoutes(),
		suppressionRoutes(), templateRoutes(), automationRoutes(), otherRoutes(), absentRoutes()} {
		routes = append(routes, of...)
	}
	return compat.Provider{Prefix: Prefix, Key: compat.BearerKey, Fail: newFailure, Routes: routes}
}

// absentRoutes refuse unsupported features by name.
func absentRoutes() []compat.Route {
	var routes []compat.Route
	for _, absent := range [][2]string{
		{"contacts", "Contacts are"},
		{"contact-properties", "Contact properties are"},
		{"segments", "Segments are"},
		{"audiences", "Audiences are"},
		{"topics", "Topics are"},
		{"broadcasts", "Broadcasts are"},
		{"inboxes", "Inboxes are"},
		{"oauth", "OAuth grants are"},
	} {
		routes = append(routes, compat.Route{Path: "/" + absent[0] + "/{...}", Handle: compat.Refuse(absent[1])})
	}
	return routes
}

// failure is an error in Resend's format.
type failure struct {
	StatusCode int    `json:"statusCode"`
	Name       string `json:"name"`
	Message    string `json:"message"`
}

func newFailure(r *compat.RefusalError) any {
	return failure{StatusCode: r.Status, Name: nameOf(r), Message: r.Message}
}

var names = map[string]string{
	fault.CodeNotFound:              "not_found",
	fault.CodeMethodNotAllowed:      "method_not_allowed",
	fault.CodeIdempotencyConflict:   "invalid_idempotent_request",
	fault.CodeIdempotencyInProgress: "concurrent_idempotent_requests",
	fault.CodeRateLimit:             "rate_limit_exceeded",
	fault.CodeInsufficientScope:     "restricted_api_key",
	compat.CodeNotImplemented:       "not_implemented",
}

// nameOf returns Resend's name for an error.
func nameOf(r *compat.RefusalError) string {
	if name := names[r.Code]; name != "" {
		return name
	}
	switch {
	case r.Status == http.StatusUnauthorized:
		return "invalid_api_key"
	case r.Code == fault.CodePlanLimit && r.Details["cap"] == "daily":
		return "daily_quota_exceeded"
	case r.Code == fault.CodePlanLimit && r.Details["cap"] != nil:
		return "monthly_quota_exceeded"
	case r.Status >= http.StatusInternalServerError:
		return "application_error"
	case r.Details["Idempotency-Key"] != nil:
		return "invalid_idempotency_key"
	}
	return "validation_error"
}

// list is a page in Resend's format.
type list[T any] struct {
	Object  string `json:"object"`
	HasMore bool   `json:"has_more"`
	Data    []T    `json:"data"`
}

// object is a response that contains only the ID of the changed object.
type object struct {
	Object  string `json:"object"`
	ID      string `json:"id"`
	Deleted *bool  `json:"deleted,omitempty"`
}

func answerDeleted(of, id string) (*compat.Response, error) {
	yes := true
	return compat.OK(object{Object: of, ID: id, Deleted: &yes})
}

// readPage completes a list with the page that the query requests.
func readPage(c *compat.Call, l compat.ListRequest) (compat.ListRequest, error) {
	l.Limit, l.After, l.Before = 20, c.Query.Get("after"), c.Query.Get("before")
	if text := c.Query.Get("limit"); text != "" {
		limit, err := strconv.Atoi(text)
		if err != nil || limit < 1 || limit > page.MaxLimit {
			return l, compat.Invalid("limit", "must be between 1 and %d", page.MaxLimit)
		}
		l.Limit = limit
	}
	if l.After != "" && l.Before != "" {
		return l, compat.Invalid("before", "cannot be combined with after")
	}
	return l, nil
}

// answerList returns a page of a list of our own API.
func answerList[T, R any](c *compat.Call, l compat.ListRequest, idOf func(T) string, keep func(T) bool,
	show func(T) R) (*compat.Response, error) {
	l, err := readPage(c, l)
	if err != nil {
		return nil, err
	}
	items, more, err := compat.Items(c, l, idOf, keep)
	if err != nil {
		return nil, err
	}
	out := list[R]{Object: "list", HasMore: more, Data: []R{}}
	for _, item := range items {
		out.Data = append(out.Data, show(item))
	}
	return compat.OK(out)
}

// joinPath joins segments into a path of our own API.
func joinPath(segments ...string) string {
	var out strings.Builder
	for _, s := range segments {
		out.WriteString("/" + url.PathEscape(s))
	}
	return out.String()
}

// removeItem returns a handler that deletes an item of our own API.
func removeItem(collection, of string) func(*compat.Call) (*compat.Response, error) {
	return func(c *compat.Call) (*compat.Response, error) {
		id := c.Param("id")
		if err := c.Do(compat.Request{Method: http.MethodDelete, Path: joinPath(collection, id)}, nil); err != nil {
			return nil, err
		}
		return answerDeleted(of, id)
	}
}

// orEmpty returns a list that is encoded as [] if it is empty.
func orEmpty[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
