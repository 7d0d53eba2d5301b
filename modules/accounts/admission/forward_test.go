package admission_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
)

// startSource serves requests of an account as an edge does. It responds with 418 and stores the error that Forward
// returns.
func startSource(t *testing.T, residence accounts.Residence) (source *httptest.Server,
	failed *atomic.Pointer[fault.Error]) {
	t.Helper()
	failed = &atomic.Pointer[fault.Error]{}
	budget, err := intake.New(intake.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	edge := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Source", "1")
		caller := accounts.Caller{AccountID: one, Residence: residence}
		err := admission.Forward(w, r, netip.MustParseAddr("192.0.2.7"), budget, admission.RequireHere(r, caller))
		if err != nil {
			failed.Store(fault.Classify(err))
			w.WriteHeader(http.StatusTeapot)
		}
	}
	s := httptest.NewServer(budget.LimitHandler(http.HandlerFunc(edge),
		func(*http.Request) intake.Tenant { return intake.Tenant{} }, func(http.ResponseWriter) {}))
	t.Cleanup(s.Close)
	return s, failed
}

// startTarget serves forwarded requests, and returns the residence of an account that is there.
func startTarget(t *testing.T, serve http.HandlerFunc) accounts.Residence {
	t.Helper()
	s := httptest.NewServer(serve)
	t.Cleanup(s.Close)
	return accounts.Residence{MovedTo: s.URL, Forward: true}
}

func ask(t *testing.T, source *httptest.Server, method, path string, body io.Reader,
	headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, source.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := source.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(content)
}

// The target gets the request of the client, except for what concerns only the connection to the source, and the client
// gets the response of the target.
func TestForwardedRequestIsUnchanged(t *testing.T) {
	t.Parallel()
	type received struct {
		*http.Request
		body string
	}
	got := make(chan received, 1)
	target := startTarget(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- received{r, string(body)}
		w.Header().Set("X-Target", "1")
		w.Header().Set("Set-Cookie", "session=1")
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, "done")
	})
	source, failed := startSource(t, target)
	large := strings.Repeat("0123456789abcdef", 40_000) // in a file of the budget
	for what, body := range map[string]io.Reader{"small": strings.NewReader("{}"), "large": strings.NewReader(large),
		"chunked": io.MultiReader(strings.NewReader(large))} {
		response, content := ask(t, source, http.MethodPost, "/api/a%2Fb//c?x=1&y=%20;z", body, "Authorization", "Bearer svc_1",
			"Idempotency-Key", "k", "X-Forwarded-For", "203.0.113.1", "Cookie", "a=b", "Connection", "X-Hop", "X-Hop", "1",
			"Expect", "100-continue", admission.HeaderForwarded+"-Not", "1")
		if response.StatusCode != http.StatusCreated || content != "done" || response.Header.Get("X-Target") != "1" ||
			response.Header.Get("X-Source") != "" || response.Header.Get("Set-Cookie") != "" {
			t.Fatalf("%s: %d %v %s, %v", what, response.StatusCode, response.Header, content, failed.Load())
		}
		at := <-got
		want := "{}"
		if what != "small" {
			want = large
		}
		if at.Method != http.MethodPost || at.RequestURI != "/api/a%2Fb//c?x=1&y=%20;z" || at.body != want ||
			at.ContentLength != int64(len(want)) || "http://"+at.Host != target.MovedTo {
			t.Errorf("%s: the target got %s %s for %s with %d bytes", what, at.Method, at.RequestURI, at.Host, len(at.body))
		}
		for name, value := range map[string]string{"Authorization": "Bearer svc_1", "Idempotency-Key": "k",
			"X-Forwarded-For": "192.0.2.7", admission.HeaderForwarded: "1", "Cookie": "", "X-Hop": "", "Expect": ""} {
			if at.Header.Get(name) != value {
				t.Errorf("%s: the target got %s %q, want %q", what, name, at.Header.Get(name), value)
			}
		}
	}
}

// A connection that the target closes while it is idle costs no request.
func TestForwardedRequestIsRepeatedWithItsKey(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	target := startTarget(t, func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 2 {
			panic(http.ErrAbortHandler) // the connection of the first request ends
		}
		io.Copy(w, r.Body)
	})
	source, failed := startSource(t, target)
	for range 2 {
		if response, content := ask(t, source, http.MethodPost, "/api/emails", strings.NewReader("the body"), "Idempotency-Key",
			"k"); response.StatusCode != http.StatusOK || content != "the body" {
			t.Fatalf("got %d %q, %v", response.StatusCode, content, failed.Load())
		}
	}
	if n := requests.Load(); n != 3 {
		t.Errorf("the target got %d requests, want one again", n)
	}
}

// Only requests of accounts that have moved are forwarded, if the operator chose so, and a few times at most.
func TestForwardReturnsOtherErrors(t *testing.T) {
	t.Parallel()
	target := startTarget(t, func(http.ResponseWriter, *http.Request) { t.Error("the target got a request") })
	for hops, c := range map[string]struct {
		at       accounts.Residence
		code     string
		location string
	}{
		"0": {accounts.Residence{MovedTo: target.MovedTo}, fault.CodeAccountMoved, target.MovedTo + "/api/emails?limit=1"},
		"3": {target, fault.CodeAccountMoving, ""},
	} {
		source, failed := startSource(t, c.at)
		response, _ := ask(t, source, http.MethodGet, "/api/emails?limit=1", nil, admission.HeaderForwarded, hops)
		if known := failed.Load(); response.StatusCode != http.StatusTeapot || known.Code != c.code || known.Location != c.location {
			t.Errorf("%+v: %d, %v with the location %q", c, response.StatusCode, known, known.Location)
		}
	}
	other := errors.New("unrelated")
	if err := admission.Forward(nil, post(http.Header{}), netip.Addr{}, nil, other); !errors.Is(err, other) {
		t.Errorf("got %v, want the error of the request", err)
	}
	if err := admission.RequireHere(post(http.Header{}), accounts.Caller{AccountID: one}); err != nil {
		t.Errorf("an account that is here: %v", err)
	}
}

// An account can move on, and a client cannot set the number of hops to one that does not end.
func TestForwardCountsHops(t *testing.T) {
	t.Parallel()
	hops := make(chan string, 1)
	target := startTarget(t, func(_ http.ResponseWriter, r *http.Request) { hops <- r.Header.Get(admission.HeaderForwarded) })
	source, failed := startSource(t, target)
	for given, want := range map[string]string{"1": "2", "2": "3", "-9": "1", "x": "1", "99999999999999999999": "1"} {
		if response, _ := ask(t, source, http.MethodGet, "/api/emails", nil, admission.HeaderForwarded, given); response.StatusCode != http.StatusOK {
			t.Fatalf("%s hops: %d, %v", given, response.StatusCode, failed.Load())
		}
		if got := <-hops; got != want {
			t.Errorf("after %s hops, the target got %s, want %s", given, got, want)
		}
	}
}

// A target that does not respond is a temporary error, for which the edge has its format.
func TestForwardReportsATargetThatIsDown(t *testing.T) {
	t.Parallel()
	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	source, failed := startSource(t, accounts.Residence{MovedTo: down.URL, Forward: true})
	response, _ := ask(t, source, http.MethodPost, "/api/emails", strings.NewReader("{}"))
	known := failed.Load()
	if response.StatusCode != http.StatusTeapot || response.Header.Get("X-Source") != "1" ||
		known.Kind != fault.Unavailable || known.RetryAfter == 0 || known.Unwrap() == nil {
		t.Errorf("got %d %v, %v", response.StatusCode, response.Header, known)
	}
}

// A stream arrives as the target sends it, and one that breaks off does not look complete.
func TestForwardStreams(t *testing.T) {
	t.Parallel()
	seen := make(chan struct{})
	target := startTarget(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: 1\n")
		http.NewResponseController(w).Flush()
		select {
		case <-seen:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler)
	})
	source, _ := startSource(t, target)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, source.URL+"/api/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := source.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	reader := bufio.NewReader(response.Body)
	if line, err := reader.ReadString('\n'); err != nil || line != "data: 1\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	close(seen)
	if rest, err := io.ReadAll(reader); err == nil {
		t.Errorf("the stream ended with %q as if it were complete", rest)
	}
}

// A client that leaves ends its request to the target.
func TestForwardEndsWithTheClient(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}), make(chan struct{})
	target := startTarget(t, func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		close(ended)
	})
	source, _ := startSource(t, target)
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, source.URL+"/api/emails", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-begun
		leave()
	}()
	if response, err := source.Client().Do(r); err == nil {
		response.Body.Close()
		t.Errorf("got %d, want the client to leave", response.StatusCode)
	}
	<-ended
}
