package stripetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stripe/stripe-mock/embedded"
	"github.com/stripe/stripe-mock/server"
)

// judge returns the validator, which is loaded once per process.
var judge = sync.OnceValues(func() (*server.StubServer, error) {
	spec, err := server.LoadSpec(embedded.OpenAPISpec, "")
	if err != nil {
		return nil, err
	}
	fixtures, err := server.LoadFixtures(embedded.OpenAPIFixtures, "")
	if err != nil {
		return nil, err
	}
	return server.NewStubServer(fixtures, spec, false, false)
})

// Key and Secret are the API key that the fake accepts and the secret with which it signs events.
const (
	Key    = "sk_test_0123456789abcdef"
	Secret = "whsec_0123456789abcdef"
)

// Stripe is a fake Stripe API. It is safe for concurrent use.
type Stripe struct {
	URL string

	// Fault is called before each request and may make it fail. Its After is called once the request has taken
	// effect. nil injects no faults.
	Fault func(r *http.Request) Fault

	mu       sync.Mutex
	judge    *server.StubServer
	t        testing.TB
	next     int
	objects  map[string]object // by ID
	once     map[string]kept   // by idempotency key
	windows  map[string]map[int64]int64
	told     map[string]bool // identifiers of meter events
	events   []Event
	requests []string
}

// Fault describes how a request fails. The zero Fault lets it succeed.
type Fault struct {
	Status int  // returned instead, without an effect
	Cut    bool // cut the connection after the effect
	Wait   time.Duration
}

type object = map[string]any

type kept struct {
	body   string
	status int
	answer []byte
}

// New starts a fake.
func New(t testing.TB) *Stripe {
	t.Helper()
	j, err := judge()
	if err != nil {
		t.Fatal(err)
	}
	s := &Stripe{judge: j, t: t, objects: map[string]object{}, once: map[string]kept{},
		windows: map[string]map[int64]int64{}, told: map[string]bool{}}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.URL = srv.URL
	return s
}

// SetFault changes Fault. It is safe while requests are in progress.
func (s *Stripe) SetFault(fault func(r *http.Request) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Fault = fault
}

// Requests returns the methods and paths of all requests so far.
func (s *Stripe) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.requests...)
}

func (s *Stripe) id(prefix string) string {
	s.next++
	return fmt.Sprintf("%s_%06d", prefix, s.next)
}

// ServeHTTP implements http.Handler.
func (s *Stripe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	fault := s.Fault
	s.mu.Unlock()
	var f Fault
	if fault != nil {
		f = fault(r)
	}
	time.Sleep(f.Wait)
	switch {
	case f.Status == http.StatusUnauthorized, r.Header.Get("Authorization") != "Bearer "+Key:
		answer(w, http.StatusUnauthorized, refusal("Invalid API Key provided"))
		return
	case f.Status != 0:
		answer(w, f.Status, refusal("Injected failure"))
		return
	}
	status, said := s.validateRequest(r, body)
	if f.Cut {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			conn.Close()
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(said)
}

func refusal(message string) object {
	return object{"error": object{"type": "invalid_request_error", "message": message}}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// validateRequest validates a request and returns the response. A request that the validator rejects fails
// the test.
func (s *Stripe) validateRequest(r *http.Request, body []byte) (int, []byte) {
	copied := r.Clone(r.Context())
	copied.Body = io.NopCloser(bytes.NewReader(body))
	recorder := httptest.NewRecorder()
	s.judge.HandleRequest(recorder, copied)
	if recorder.Code >= 400 {
		s.t.Errorf("Stripe's validator rejected %s %s %s: %s", r.Method, r.URL, body, recorder.Body)
		return recorder.Code, recorder.Body.Bytes()
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return http.StatusBadRequest, nil
	}
	if r.Method == http.MethodGet {
		form = r.URL.Query()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	if before, known := s.once[key]; known && key != "" && r.Method == http.MethodPost {
		if before.body != r.URL.Path+string(body) {
			s.t.Errorf("the idempotency key %s is reused for another request: %s %s, previously %s", key, r.URL.Path,
				body, before.body)
			return http.StatusBadRequest,
				encodeJSON(object{"error": object{"type": "idempotency_error",
					"message": "Keys for idempotent requests can only be used with the same parameters"}})
		}
		return before.status, before.answer
	}
	status, v := s.route(r.Method, strings.TrimPrefix(r.URL.Path, "/v1/"), form)
	said := encodeJSON(v)
	if key != "" && r.Method == http.MethodPost && status < 500 {
		s.once[key] = kept{r.URL.Path + string(body), status, said}
	}
	return status, said
}

func encodeJSON(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return out
}

func notFound(id string) (int, object) {
	return http.StatusNotFound, object{"error": object{"type": "invalid_request_error", "code": "resource_missing",
		"message": "No such object: " + id}}
}

func badRequest(message string) (int, object) { return http.StatusBadRequest, refusal(message) }

func list(of []object) object { return object{"object": "list", "data": of, "has_more": false} }

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
