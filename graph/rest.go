package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
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
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// restCall is the REST operation that implements a mutation.
type restCall struct {
	needs  rights.Operation
	method string
	path   string // with * for the ID
	id     string
	key    *string // value of the Idempotency-Key header; nil: none
	body   any     // nil: none
}

// maxRESTResponse limits the responses of the operations that mutations call. None of them returns message contents.
const maxRESTResponse = 1 << 20

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
	// The API records the route of a request in its context, but this request is not the client's.
	inner, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	request, header, err := call.newRequest(ctx, inner)
	if err != nil {
		return caller, nil, err
	}
	if field := graphql.GetRootFieldContext(ctx); field != nil {
		inquiry.OriginOf(ctx).MarkAudited(field.Field.Alias)
	}
	answer := &restResponse{header: header}
	r.rest.ServeHTTP(answer, request)
	return caller, header, answer.decode(into)
}

// newRequest returns the request, and the header of its response.
func (call restCall) newRequest(ctx, inner context.Context) (*http.Request, http.Header, error) {
	origin := inquiry.OriginOf(ctx)
	if origin == nil {
		return nil, nil, errors.New("a mutation has no request")
	}
	header := http.Header{telemetry.RequestIDHeader: {id.New("req")}}
	if origin.IsFirstCall() { // the request was already counted and has an ID
		inner = admission.WithCounted(inner)
		header.Set(telemetry.RequestIDHeader, origin.RequestID)
	}
	out := origin.Request.Clone(inner)
	const prefix = "/api"
	out.Method = call.method
	out.URL = &url.URL{Path: prefix + strings.Replace(call.path, "*", call.id, 1),
		RawPath: prefix + strings.Replace(call.path, "*", url.PathEscape(call.id), 1)}
	out.RequestURI, out.Body, out.ContentLength = out.URL.RequestURI(), http.NoBody, 0
	for name := range out.Header {
		if !slices.Contains(forwardedFields, name) {
			delete(out.Header, name)
		}
	}
	if call.key != nil {
		out.Header.Set(idempotency.Header, *call.key)
	}
	if call.body != nil {
		encoded, err := json.Marshal(call.body)
		if err != nil {
			return nil, nil, fmt.Errorf("encode a mutation: %w", err)
		}
		out.Header.Set("Content-Type", "application/json")
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(encoded)), int64(len(encoded))
	}
	return out, header, nil
}

// forwardedFields are the header fields that identify the caller and its address.
var forwardedFields = []string{"Authorization", "Cookie", "Origin", "Sec-Fetch-Site", admission.HeaderAccount,
	"Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Real-Ip", "Accept-Language",
	"User-Agent"}

// restResponse stores a response in memory.
type restResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *restResponse) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *restResponse) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *restResponse) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.body.Len()+len(p) > maxRESTResponse {
		return 0, errors.New("the response of an operation is too large for a mutation")
	}
	return w.body.Write(p)
}

// decode decodes a successful response, and returns the error of any other.
func (w *restResponse) decode(into any) error {
	if w.status < http.StatusOK || w.status >= http.StatusMultipleChoices {
		return w.problem()
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(w.body.Bytes(), into); err != nil {
		return fmt.Errorf("decode the response of a mutation: %w", err)
	}
	return nil
}

var kindOfStatus = map[int]fault.Kind{
	http.StatusBadRequest: fault.Invalid, http.StatusUnauthorized: fault.Unauthorized,
	http.StatusForbidden: fault.Forbidden, http.StatusNotFound: fault.NotFound, http.StatusConflict: fault.Conflict,
	http.StatusRequestEntityTooLarge: fault.TooLarge, http.StatusTooManyRequests: fault.Limit,
	http.StatusInsufficientStorage: fault.Limit, http.StatusBadGateway: fault.Upstream,
	http.StatusServiceUnavailable: fault.Unavailable,
}

// problem returns the error that the REST API reported, with its code and fields.
func (w *restResponse) problem() error {
	var answer struct {
		Error struct {
			Message    string         `json:"message"`
			Code       string         `json:"code"`
			Details    map[string]any `json:"details"`
			UpgradeURL string         `json:"upgrade_url"`
		} `json:"error"`
	}
	kind, known := kindOfStatus[w.status]
	if err := json.Unmarshal(w.body.Bytes(), &answer); err != nil || !known {
		return fmt.Errorf("a mutation got status %d: %s", w.status, answer.Error.Message)
	}
	e := &fault.Error{Kind: kind, Code: answer.Error.Code, Message: answer.Error.Message,
		Details: answer.Error.Details, UpgradeURL: answer.Error.UpgradeURL}
	if seconds, err := strconv.Atoi(w.header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}
