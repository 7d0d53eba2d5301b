package graph

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/postrider/postrider/graph/inquiry"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/web/loopback"
)

// restCall is the REST operation that implements a mutation.
type restCall struct {
	needs  rights.Operation
	method string
	path   string // with * for the ID
	id     string
	key    *string // value of the Idempotency-Key header; nil: none
	body   any     // nil: none
	query  url.Values
	limit  int // maximum size of the response in bytes; 0: maxRESTResponse
}

// maxRESTResponse limits the responses of the operations that mutations call. Those that return message contents have a
// limit of their own.
const maxRESTResponse = 1 << 20

// forwardedFields are the header fields that identify the caller and its address.
var forwardedFields = append([]string{admission.HeaderAccount, accounts.HeaderMode}, loopback.ClientFields...)

// callREST calls an operation of the REST API as the caller of the request, and decodes its response. The operation
// applies every rule: rights, limits, caps, idempotency, quotas and the audit log.
func (r *Resolver) callREST(ctx context.Context, call restCall, into any) (accounts.Caller, http.Header, error) {
	caller, err := inquiry.Authorize(ctx, call.needs)
	if err != nil {
		return caller, nil, err
	}
	if call.id == "" && strings.Contains(call.path, "*") {
		return caller, nil, fault.InvalidField("id", "cannot be empty")
	}
	origin := inquiry.OriginOf(ctx)
	if origin == nil {
		return caller, nil, errors.New("a mutation has no request")
	}
	inner, cancel := loopback.Detach(ctx)
	defer cancel()
	out := loopback.Call{Client: loopback.CopyClient(origin.Request, forwardedFields...), RequestID: id.New("req"),
		Method: call.method, Path: "/api" + strings.Replace(call.path, "*", url.PathEscape(call.id), 1), Query: call.query,
		Body: call.body}
	if origin.IsFirstCall() { // the request was already counted and has an ID
		inner, out.RequestID = admission.WithCounted(inner), origin.RequestID
	}
	if call.key != nil {
		out.Header = map[string]string{idempotency.Header: *call.key}
	}
	if field := graphql.GetRootFieldContext(ctx); field != nil {
		origin.MarkAudited(field.Field.Alias)
	}
	body := &loopback.Buffer{Limit: cmp.Or(call.limit, maxRESTResponse)}
	response, err := out.Do(inner, r.rest, body)
	if err == nil && response.IsSuccess() {
		err = loopback.Decode(body.Content, into)
	} else if err == nil {
		err = restProblem(response, body.Content)
	}
	return caller, response.Header(), err
}

var kindOfStatus = map[int]fault.Kind{
	http.StatusBadRequest: fault.Invalid, http.StatusUnauthorized: fault.Unauthorized,
	http.StatusForbidden: fault.Forbidden, http.StatusNotFound: fault.NotFound, http.StatusConflict: fault.Conflict,
	http.StatusRequestEntityTooLarge: fault.TooLarge, http.StatusTooManyRequests: fault.Limit,
	http.StatusInsufficientStorage: fault.Limit, http.StatusBadGateway: fault.Upstream,
	http.StatusServiceUnavailable: fault.Unavailable,
}

// restProblem returns the error that the REST API reported, with its code and fields.
func restProblem(response *loopback.Response, body []byte) error {
	var answer struct {
		Error struct {
			Message    string         `json:"message"`
			Code       string         `json:"code"`
			Details    map[string]any `json:"details"`
			UpgradeURL string         `json:"upgrade_url"`
		} `json:"error"`
	}
	kind, known := kindOfStatus[response.Status]
	if err := json.Unmarshal(body, &answer); err != nil || !known {
		return fmt.Errorf("a mutation got status %d: %s", response.Status, answer.Error.Message)
	}
	e := &fault.Error{Kind: kind, Code: answer.Error.Code, Message: answer.Error.Message,
		Details: answer.Error.Details, UpgradeURL: answer.Error.UpgradeURL}
	if seconds, err := strconv.Atoi(response.Header().Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}
