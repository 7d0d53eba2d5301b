package compat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/idempotency"
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
	caller, err := c.h.Keys.Authenticate(ctx, key)
	if err != nil {
		return err
	}
	c.caller, c.key = caller, key
	telemetry.SetCaller(ctx, caller.AccountID, caller.ID())
	intake.SetTenant(c.w, c.owner())
	return nil
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
	if ask.Compared != nil {
		ctx = api.WithComparedBody(ctx, ask.Compared)
	}
	body, err := c.encode(ask.Body)
	c.endWork()
	if err != nil {
		return err
	}
	if body != nil {
		defer body.Close()
	}
	request, err := c.newRequest(ctx, ask, body)
	if err != nil {
		return err
	}
	answer := &capture{ctx: ctx, header: http.Header{}, content: c.h.Budget.NewContent(intake.Terms{Tenant: c.owner(),
		MaxMemory: answerMemory, MaxSize: answerLimit, Patience: patience})}
	defer answer.content.Close()
	answer.header.Set(telemetry.RequestIDHeader, c.innerID())
	c.h.API.ServeHTTP(answer, request)
	telemetry.SetRoute(ctx, c.route)
	c.passHeaders(answer.header)
	if answer.err != nil {
		return api.RoomError(ctx, answer.err)
	}
	answer.content.Finish()
	return c.readAnswer(answer, into)
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

// newRequest returns a request from the same client, with the key in the format of our own API.
func (c *Call) newRequest(ctx context.Context, ask Request, body *intake.Content) (*http.Request, error) {
	target := api.Prefix + ask.Path
	if len(ask.Query) > 0 {
		target += "?" + ask.Query.Encode()
	}
	var from io.Reader
	if body != nil {
		from = body.Reader()
	}
	request, err := http.NewRequestWithContext(ctx, ask.Method, target, from)
	if err != nil {
		return nil, fmt.Errorf("call our own API: %w", err)
	}
	for _, name := range []string{"User-Agent", "X-Forwarded-For", "Accept-Language"} {
		if values := c.r.Header.Values(name); len(values) > 0 {
			request.Header[name] = values
		}
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	if body != nil {
		request.ContentLength = body.Size()
		request.Header.Set("Content-Type", "application/json")
	}
	if ask.Key != "" {
		request.Header.Set(idempotency.Header, ask.Key)
	}
	request.RemoteAddr, request.Host, request.TLS, request.RequestURI = c.r.RemoteAddr, c.r.Host, c.r.TLS, target
	return request, nil
}

func (c *Call) readAnswer(answer *capture, into any) error {
	release, err := c.h.Budget.WorkOnBody(c.r.Context(), c.owner(), answer.content)
	if err != nil {
		return api.RoomError(c.r.Context(), err)
	}
	defer release()
	return c.readContent(answer.content, func(text []byte) error {
		if answer.status < http.StatusOK || answer.status >= http.StatusMultipleChoices {
			return decodeRefusal(answer.status, answer.header, text)
		}
		if into == nil {
			return nil
		}
		if err := json.Unmarshal(text, into); err != nil {
			return fmt.Errorf("decode a response of our own API: %w", err)
		}
		return nil
	})
}

// capture is the writer of a response that a handler translates.
type capture struct {
	ctx     context.Context //nolint:containedctx // of the request that it responds to
	header  http.Header
	status  int
	content *intake.Content
	err     error
}

func (w *capture) Header() http.Header { return w.header }

func (w *capture) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
}

func (w *capture) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.err == nil {
		w.err = w.content.Append(w.ctx, p)
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}
