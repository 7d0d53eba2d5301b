package dnsprovider

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// swapper redirects requests to a provider's host to the scripted server of the test that has the token. Some
// libraries use only the default transport.
type swapper struct {
	mu      sync.Mutex
	servers map[string]*httptest.Server
	wire    *http.Transport
}

var swap = &swapper{servers: map[string]*httptest.Server{}, wire: &http.Transport{}}

func TestMain(m *testing.M) {
	http.DefaultTransport = swap
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

// find returns the test to which a request belongs, by the credential in it.
func (s *swapper) find(r *http.Request) *httptest.Server {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if scope, signed := strings.CutPrefix(token, "Credential="); signed {
		token, _, _ = strings.Cut(scope, "/")
	}
	if key := r.Header.Get("X-Ovh-Application"); key != "" {
		token = key
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.servers[token]
}

func (s *swapper) RoundTrip(r *http.Request) (*http.Response, error) {
	server := s.find(r)
	if server == nil {
		return nil, errors.New("no server has the token")
	}
	target, err := url.Parse(server.URL)
	if err != nil {
		return nil, err
	}
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host = target.Scheme, target.Host
	return s.wire.RoundTrip(out)
}

// entry is one record of a book, in the provider's format.
type entry struct {
	ID       int
	Type     string
	Name     string
	Value    string
	Priority int
	TTL      int
}

// book is a zone as stored by a provider's API.
type book struct {
	token string
	mu    sync.Mutex
	next  int
	list  []entry
	calls []string
}

// serve starts the scripted API of one provider for a book and opens its zone.
func serve(t testing.TB, name string, api func(*book) http.Handler, entries ...entry) (*book, *Zone) {
	t.Helper()
	b := &book{token: fmt.Sprintf("%x", sha256.Sum256([]byte(t.Name())))}
	for _, e := range entries {
		b.add(e)
	}
	handler := api(b)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.calls = append(b.calls, r.Method)
		handler.ServeHTTP(w, r)
	}))
	swap.mu.Lock()
	swap.servers[b.token] = server
	swap.mu.Unlock()
	t.Cleanup(func() { swap.wire.CloseIdleConnections(); server.Close() })
	s := newService(t, "127.0.0.1:1")
	s.http.Transport, s.retryPause = swap, time.Millisecond
	given := secrets(Credentials(name)[0].Name, b.token)
	switch name {
	case "ovh":
		given = secrets("endpoint", "ovh-eu", "application_key", b.token, "application_secret", "a-secret-of-ovh",
			"consumer_key", "a-consumer-of-ovh")
	case "route53":
		given = secrets("access_key_id", b.token, "secret_access_key", "a-secret-of-aws")
	}
	z, err := s.Open(t.Context(), name, given, "example.com")
	if err != nil {
		t.Fatal(err)
	}
	return b, z
}

func (b *book) add(e entry) entry {
	b.next++
	e.ID = b.next
	b.list = append(b.list, e)
	return e
}

func (b *book) values(name, recordType string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, e := range b.list {
		if e.Name == name && e.Type == recordType {
			out = append(out, e.Value)
		}
	}
	slices.Sort(out)
	return out
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

type object = map[string]any
