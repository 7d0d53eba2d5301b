package loopback_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/loopback"
)

func newClient() *http.Request {
	r := httptest.NewRequest(http.MethodGet, "https://mail.example/elsewhere?x=1", strings.NewReader("body of the client"))
	r.Header = http.Header{"Authorization": {"Bearer key"}, "Content-Encoding": {"gzip"},
		"X-Forwarded-For": {"192.0.2.1", "192.0.2.2"}}
	r.RemoteAddr = "192.0.2.3:4000"
	return r
}

func TestHandlerGetsRequestOfClient(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body any
		want string
	}{
		"no body":   {nil, ""},
		"a value":   {map[string]int{"a": 1}, `{"a":1}`},
		"a content": {io.NewSectionReader(strings.NewReader(`..{"b":2}`), 2, 7), `{"b":2}`},
	} {
		client := newClient()
		copied := loopback.CopyClient(client, loopback.ClientFields...)
		call := loopback.Call{Client: copied, RequestID: "req_1", Method: http.MethodPut, Path: "/api/things/a%2Fb",
			Query: url.Values{"q": {"1 2"}}, Header: map[string]string{"If-Match": `"1"`}, Body: c.body}
		var text loopback.Buffer
		response, err := call.Do(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if got := w.Header().Get(telemetry.RequestIDHeader); got != "req_1" {
				t.Errorf("%s: the request ID is %q, want req_1", name, got)
			}
			got := []any{r.Method, r.URL.Path, r.RequestURI, r.Host, r.RemoteAddr, r.TLS == client.TLS, r.ContentLength}
			want := []any{http.MethodPut, "/api/things/a/b", "/api/things/a%2Fb?q=1+2", "mail.example", "192.0.2.3:4000",
				true, int64(len(c.want))}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: the handler gets another request (-want +got):\n%s", name, diff)
			}
			header := http.Header{"Authorization": {"Bearer key"}, "X-Forwarded-For": {"192.0.2.1", "192.0.2.2"},
				"If-Match": {`"1"`}}
			if c.body != nil {
				header.Set("Content-Type", "application/json")
			}
			if diff := cmp.Diff(header, r.Header); diff != "" {
				t.Errorf("%s: the handler gets other header fields (-want +got):\n%s", name, diff)
			}
			r.Header["X-Forwarded-For"][0] = "changed"
			if body, err := io.ReadAll(r.Body); err != nil || string(body) != c.want {
				t.Errorf("%s: the handler reads %q, %v; want %q", name, body, err, c.want)
			}
		}), &text)
		if err != nil || response.IsSuccess() {
			t.Errorf("%s: Do returned status %d, %v; want status 0, because the handler did not respond", name,
				response.Status, err)
		}
		for _, r := range []*http.Request{client, copied} {
			if r.Header.Get("X-Forwarded-For") != "192.0.2.1" || r.Header.Get("If-Match") != "" {
				t.Errorf("%s: the call changed the header of the client to %v", name, r.Header)
			}
		}
	}
}

func TestResponseIsRecorded(t *testing.T) {
	t.Parallel()
	call := loopback.Call{Client: loopback.CopyClient(newClient()), Path: "/"}
	text := loopback.Buffer{Limit: 100}
	response, err := call.Do(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3")
		for _, status := range []int{http.StatusEarlyHints, http.StatusConflict, http.StatusOK} {
			w.WriteHeader(status)
		}
		for _, part := range []string{`{"a":`, `1}`} {
			if n, err := io.WriteString(w, part); n != len(part) || err != nil {
				t.Errorf("Write returned %d, %v; want %d", n, err, len(part))
			}
		}
	}), &text)
	if err != nil || response.Status != http.StatusConflict || response.IsSuccess() ||
		response.Header().Get("Retry-After") != "3" {
		t.Errorf("the response is %d %v, %v; want 409 with Retry-After", response.Status, response.Header(), err)
	}
	var got struct{ A int }
	if err := loopback.Decode(text.Content, &got); err != nil || got.A != 1 {
		t.Errorf("the body %q is decoded to %+v, %v; want A: 1", text.Content, got, err)
	}
}

func TestBodyIsBounded(t *testing.T) {
	t.Parallel()
	call := loopback.Call{Client: loopback.CopyClient(newClient()), Path: "/"}
	text := loopback.Buffer{Limit: 1000}
	response, err := call.Do(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 5 {
			_, _ = w.Write(make([]byte, 300))
		}
		if _, err := w.Write([]byte("x")); !errors.Is(err, loopback.ErrTooLarge) {
			t.Errorf("after the limit, Write returned %v, want ErrTooLarge: the body would have a hole", err)
		}
	}), &text)
	if !errors.Is(err, loopback.ErrTooLarge) || response.Status != http.StatusOK {
		t.Errorf("Do returned status %d, %v; want 200, ErrTooLarge", response.Status, err)
	}
	if len(text.Content) > text.Limit {
		t.Errorf("%d bytes are kept, want at most %d", len(text.Content), text.Limit)
	}
}

func TestPanicIsPassedOn(t *testing.T) {
	t.Parallel()
	detached, cancel := loopback.Detach(t.Context())
	defer func() {
		if got := recover(); got != "a fault" {
			t.Errorf("recovered %v, want the panic of the handler", got)
		}
		if detached.Err() == nil {
			t.Error("the context continues after the panic, want it canceled")
		}
	}()
	defer cancel()
	call := loopback.Call{Client: loopback.CopyClient(newClient()), Path: "/"}
	_, _ = call.Do(detached, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a fault") }), io.Discard)
}

func TestDetachedCallEndsWithItsParent(t *testing.T) {
	t.Parallel()
	type key struct{}
	parent, end := context.WithCancel(context.WithValue(t.Context(), key{}, true))
	detached, cancel := loopback.Detach(parent)
	defer cancel()
	call := loopback.Call{Client: loopback.CopyClient(newClient()), Path: "/"}
	if _, err := call.Do(detached, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Context().Value(key{}) != nil {
			t.Error("the handler sees a value of the parent context, want none")
		}
		end()
		<-r.Context().Done()
	}), io.Discard); err != nil {
		t.Error(err)
	}
}
