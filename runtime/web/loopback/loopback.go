// Package loopback calls an HTTP handler of this process on behalf of a client, for example the operation of the REST
// API that implements a GraphQL mutation. The handler gets the address, the TLS state and the credential of the client,
// so it authenticates, limits and logs the call as if the client had sent it. The caller provides the writer of the
// response body, and bounds its memory.
package loopback

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

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// ClientFields are the header fields that identify a client and its origin.
var ClientFields = []string{"Authorization", "Cookie", "Origin", "Sec-Fetch-Site", "Forwarded", "X-Forwarded-For",
	"X-Forwarded-Proto", "X-Forwarded-Host", "X-Real-Ip", "Accept-Language", "User-Agent"}

// CopyClient returns a request with the address, the TLS state and the given header fields of r. It can be used after
// r has ended.
func CopyClient(r *http.Request, fields ...string) *http.Request {
	client := &http.Request{Host: r.Host, RemoteAddr: r.RemoteAddr, TLS: r.TLS, Proto: r.Proto, ProtoMajor: r.ProtoMajor,
		ProtoMinor: r.ProtoMinor, Header: http.Header{}}
	for _, name := range fields {
		if values := r.Header.Values(name); len(values) > 0 {
			client.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
	return client
}

// Detach returns a context that ends when ctx ends, but has none of its values. The API records the route and the
// caller of a request in its context; with a detached context, those of the client's own request remain.
func Detach(ctx context.Context) (context.Context, context.CancelFunc) {
	detached, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, cancel)
	return detached, func() { stop(); cancel() }
}

// Call is a request to a handler of this process.
type Call struct {
	Client    *http.Request // from CopyClient
	RequestID string        // empty: the handler chooses one
	Method    string
	Path      string // escaped
	Query     url.Values
	Header    map[string]string // in addition to the client's
	Body      any               // a value to encode as JSON, an *io.SectionReader of JSON, or nil
}

// Do calls a handler, which writes the body of its response to w. If w returns an error, Do discards the rest of the
// body, and returns the error with the response. A panic of the handler is passed on.
func (c Call) Do(ctx context.Context, handler http.Handler, w io.Writer) (*Response, error) {
	response := &Response{header: http.Header{}, body: w}
	if c.RequestID != "" {
		response.header.Set(telemetry.RequestIDHeader, c.RequestID)
	}
	r, err := c.newRequest(ctx)
	if err != nil {
		return response, fmt.Errorf("call our own API: %w", err)
	}
	handler.ServeHTTP(response, r)
	return response, response.err
}

func (c Call) newRequest(ctx context.Context) (*http.Request, error) {
	target, err := url.Parse(c.Path)
	if err != nil {
		return nil, err
	}
	target.RawQuery = c.Query.Encode()
	r := c.Client.Clone(ctx)
	r.Method, r.URL, r.RequestURI, r.Body = c.Method, target, target.RequestURI(), http.NoBody
	for name, value := range c.Header {
		r.Header.Set(name, value)
	}
	if c.Body == nil {
		return r, nil
	}
	r.Header.Set("Content-Type", "application/json")
	if content, is := c.Body.(*io.SectionReader); is {
		r.Body, r.ContentLength = io.NopCloser(content), content.Size()
		return r, nil
	}
	encoded, err := json.Marshal(c.Body)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(encoded)), int64(len(encoded))
	return r, err
}

// Response is the response to a Call, without its body. It is the http.ResponseWriter of the handler.
type Response struct {
	Status int // 0 if the handler did not respond

	header http.Header
	body   io.Writer
	err    error // of body
}

// Header returns the header of the response.
func (r *Response) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *Response) WriteHeader(status int) {
	if r.Status == 0 && status >= http.StatusOK { // not 1xx
		r.Status = status
	}
}

// Write implements http.ResponseWriter.
func (r *Response) Write(p []byte) (n int, err error) {
	r.WriteHeader(http.StatusOK)
	if r.err == nil {
		n, r.err = r.body.Write(p)
	}
	return n, r.err
}

// IsSuccess reports whether the status is 2xx.
func (r *Response) IsSuccess() bool {
	return r.Status >= http.StatusOK && r.Status < http.StatusMultipleChoices
}

// Decode decodes the body of a successful response, unless into is nil.
func Decode(body []byte, into any) error {
	if into == nil {
		return nil
	}
	return fault.Wrap("decode a response of our own API", json.Unmarshal(body, into))
}

// ErrTooLarge is the error of a Buffer that is full.
var ErrTooLarge = errors.New("the response of our own API is too large")

// Buffer keeps a body in memory, up to a limit.
type Buffer struct {
	Limit   int
	Content []byte
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	if len(b.Content)+len(p) > b.Limit {
		return 0, ErrTooLarge
	}
	b.Content = append(b.Content, p...)
	return len(p), nil
}
