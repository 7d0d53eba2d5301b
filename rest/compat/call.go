package compat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/web/loopback"
)

const (
	defaultLimit = 1 << 20 // bytes of a body, unless the route says otherwise
	answerLimit  = 200 << 20
	answerMemory = 64 << 10 // bytes of a response that are kept in memory
	patience     = 5 * time.Second
)

// Call is an authenticated request in the format of a provider.
type Call struct {
	Query url.Values

	w      http.ResponseWriter
	r      *http.Request
	h      *handler
	route  string
	params map[string]string
	limit  int64
	caller accounts.Caller
	key    string
	remote netip.Addr
	begun  time.Time
	body   *intake.Content
	work   func() // releases the memory for processing the body; nil: none is reserved
	inner  int    // calls of our own API
}

// BearerKey returns the API key of an Authorization header with the scheme Bearer; empty without one.
func BearerKey(r *http.Request) string {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(key)
}

// Param returns the path segment that a name in braces matched.
func (c *Call) Param(name string) string { return c.params[name] }

// Header returns a header field of the request.
func (c *Call) Header(name string) string { return c.r.Header.Get(name) }

// RateLimit returns the requests per second of the account, derived from the burst of two seconds in the responses of
// our own API. It returns 0 before the first response, and without a limit.
func (c *Call) RateLimit() int {
	burst, err := strconv.Atoi(c.w.Header().Get("Ratelimit-Limit"))
	if err != nil {
		return 0
	}
	return burst / 2
}

func (c *Call) owner() intake.Tenant {
	return intake.Tenant{Account: c.caller.AccountID, Remote: c.remote}
}

func (c *Call) authenticate(key string) error {
	ctx, cancel := context.WithTimeout(c.r.Context(), fault.AnswerWithin)
	defer cancel()
	if key == "" {
		return fault.Unauthenticated()
	}
	caller, err := c.h.Keys.Authenticate(ctx, key, c.remote)
	if err == nil {
		err = admission.RequireHere(c.r, caller)
	}
	if err != nil {
		return err
	}
	c.caller, c.key = caller, key
	telemetry.SetCaller(ctx, caller.AccountID, caller.ID())
	intake.SetTenant(c.w, c.owner())
	return c.count(ctx)
}

// count applies the rate limit of the account, also to requests that are refused here. The first call of our own API
// belongs to the request, and is not counted again.
func (c *Call) count(ctx context.Context) error {
	if c.h.Rate == nil || c.caller.AccountID == "" {
		return nil
	}
	account, err := c.h.Accounts.Account(ctx, c.caller.AccountID)
	if err != nil {
		return err
	}
	return c.h.Rate.Admit(ctx, c.caller.RateAccount(account), c.w.Header())
}

func (c *Call) close() {
	c.endWork()
	if c.body != nil {
		c.body.Close()
	}
}

// endWork releases the memory for processing the body.
func (c *Call) endWork() {
	if c.work != nil {
		c.work()
		c.work = nil
	}
}

// receive reads the body within the budget and reserves the memory for processing it.
func (c *Call) receive(media string) error {
	given, _, err := mime.ParseMediaType(c.Header("Content-Type"))
	if encoding := c.Header("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return &RefusalError{Status: http.StatusUnsupportedMediaType, Code: fault.CodeUnsupportedMediaType,
			Message: "Content-Encoding is not supported. Send the body uncompressed"}
	}
	if err != nil || given != media {
		return &RefusalError{Status: http.StatusUnsupportedMediaType, Code: fault.CodeUnsupportedMediaType,
			Message: "Content-Type must be " + media}
	}
	limit := c.limit
	if limit == 0 {
		limit = defaultLimit
	}
	content, err := c.h.Budget.RequestBody(c.w, c.r, c.owner(), limit)
	if err != nil {
		return api.BodyError(c.r.Context(), err, limit)
	}
	c.body = content
	if c.work, err = c.h.Budget.WorkOnBody(c.r.Context(), c.owner(), content); err != nil {
		return api.RoomError(c.r.Context(), err)
	}
	return nil
}

// Decode reads the JSON body into a value. An unknown field is refused instead of ignored.
func (c *Call) Decode(into any) error {
	if err := c.receive("application/json"); err != nil {
		return err
	}
	return c.readContent(c.body, func(text []byte) error {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		err := decoder.Decode(into)
		if err == nil && decoder.More() {
			err = errors.New("more than one value")
		}
		return jsonError(err)
	})
}

// jsonError returns the refusal of a body that cannot be decoded.
func jsonError(err error) error {
	var kind *json.UnmarshalTypeError
	var refusal *RefusalError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refusal):
		return refusal
	case errors.As(err, &kind):
		return Invalid(kind.Field, "cannot be a JSON %s", kind.Value)
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		field := strings.Trim(strings.TrimPrefix(err.Error(), "json: unknown field "), `"`)
		return Invalid(field, "is not a known field")
	}
	return &RefusalError{Status: http.StatusBadRequest, Code: fault.CodeValidation, Message: "The body is not valid JSON"}
}

// readContent passes the bytes of content to read. They can be in a file, so reading them can fail.
func (c *Call) readContent(content *intake.Content, read func([]byte) error) error {
	text, err := content.Bytes()
	if err != nil {
		return api.RoomError(c.r.Context(), err)
	}
	if content.InMemory() {
		return read(text)
	}
	var wrong error
	if err := intake.RecoverDiskFault(func() error { wrong = read(text); return nil }); err != nil {
		return api.RoomError(c.r.Context(), err)
	}
	return wrong
}

// Request is a call of our own API.
type Request struct {
	Method string
	Path   string // below /api, escaped
	Query  url.Values
	Body   any    // nil: none
	Key    string // the Idempotency-Key, if the operation accepts one
	// Compared replaces the body under its Idempotency-Key, if the body differs from one attempt to the next.
	Compared []byte
}

// Do calls our own API as the caller and decodes its response. It returns an error response as a *RefusalError.
func (c *Call) Do(ask Request, into any) error {
	ctx := c.r.Context()
	if c.inner == 0 && c.h.Rate != nil {
		ctx = admission.WithCounted(ctx)
	}
	if ask.Compared != nil {
		ctx = api.WithComparedBody(ctx, ask.Compared)
	}
	body, err := c.encode(ask.Body)
	c.endWork()
	if err != nil {
		return err
	}
	out := loopback.Call{Client: loopback.CopyClient(c.r, "User-Agent", "X-Forwarded-For", "Accept-Language"),
		RequestID: c.innerID(), Method: ask.Method, Path: api.Prefix + ask.Path, Query: ask.Query,
		Header: map[string]string{"Authorization": "Bearer " + c.key}}
	if ask.Key != "" {
		out.Header[idempotency.Header] = ask.Key
	}
	if body != nil {
		defer body.Close()
		out.Body = body.Reader()
	}
	content := c.h.Budget.NewContent(intake.Terms{Tenant: c.owner(), MaxMemory: answerMemory, MaxSize: answerLimit,
		Patience: patience})
	defer content.Close()
	response, err := out.Do(ctx, c.h.API, content.Writer(ctx))
	telemetry.SetRoute(ctx, c.route)
	c.passHeaders(response.Header())
	if err != nil {
		return api.RoomError(ctx, err)
	}
	content.Finish()
	return c.readAnswer(response, content, into)
}

// innerID returns the request ID of the next call of our own API. The first call has the ID of the request.
func (c *Call) innerID() string {
	if c.inner++; c.inner == 1 {
		return c.w.Header().Get(telemetry.RequestIDHeader)
	}
	return id.New("req")
}

// passHeaders shows the client the rate limit.
func (c *Call) passHeaders(from http.Header) {
	for _, name := range []string{"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", "Idempotent-Replayed"} {
		if value := from.Get(name); value != "" {
			c.w.Header().Set(name, value)
		}
	}
}

func (c *Call) encode(of any) (*intake.Content, error) {
	if of == nil {
		return nil, nil //nolint:nilnil // no body
	}
	encoded, err := json.Marshal(of)
	if err != nil {
		return nil, fmt.Errorf("encode a call of our own API: %w", err)
	}
	content := c.h.Budget.NewContent(intake.Terms{Tenant: c.owner(), MaxMemory: answerMemory,
		MaxSize: int64(len(encoded)), Patience: patience})
	if err := content.Append(c.r.Context(), encoded); err != nil {
		content.Close()
		return nil, api.RoomError(c.r.Context(), err)
	}
	content.Finish()
	return content, nil
}

func (c *Call) readAnswer(response *loopback.Response, content *intake.Content, into any) error {
	release, err := c.h.Budget.WorkOnBody(c.r.Context(), c.owner(), content)
	if err != nil {
		return api.RoomError(c.r.Context(), err)
	}
	defer release()
	return c.readContent(content, func(text []byte) error {
		if !response.IsSuccess() {
			return decodeRefusal(response.Status, response.Header(), text)
		}
		return loopback.Decode(text, into)
	})
}
