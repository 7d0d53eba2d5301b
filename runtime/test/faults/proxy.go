package faults

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
)

// Balancer is a load balancer in front of several servers: it polls /readyz of each, forwards requests to
// the ready ones in turn, and never retries. While none is ready, requests wait.
type Balancer struct {
	URL string

	mu    sync.Mutex
	ready []string // base URLs
	turn  int
	stop  context.CancelFunc
	done  sync.WaitGroup
}

// probeEvery is the time between two probes of a server. A server that is not ready gets no more requests
// from then on.
const probeEvery = 500 * time.Millisecond

// Balance starts a balancer over the servers. They keep their addresses after a restart.
func Balance(t testing.TB, servers Cluster) *Balancer {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	b := &Balancer{stop: stop}
	probes := &http.Client{Timeout: expect.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, s := range servers {
		base := s.BaseURL
		b.done.Go(func() {
			for ctx.Err() == nil {
				b.set(base, probe(ctx, probes, base))
				select {
				case <-ctx.Done():
				case <-time.After(probeEvery):
				}
			}
		})
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.Out.URL = b.target(r.In.Context(), r.In.URL) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 10 * time.Second},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.URL = "http://" + listener.Addr().String()
	front := &http.Server{Handler: proxy, ReadHeaderTimeout: time.Minute}
	b.done.Go(func() {
		if err := front.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		if err := front.Close(); err != nil {
			t.Error(err)
		}
		b.done.Wait()
	})
	return b
}

func probe(ctx context.Context, client *http.Client, base string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	answer, err := client.Do(request)
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

func (b *Balancer) set(base string, ready bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := []string{}
	for _, other := range b.ready {
		if other != base {
			list = append(list, other)
		}
	}
	if ready {
		list = append(list, base)
	}
	b.ready = list
}

// Ready returns how many servers are ready.
func (b *Balancer) Ready() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.ready)
}

// target returns a URL of the next ready server.
func (b *Balancer) target(ctx context.Context, in *url.URL) *url.URL {
	out := *in
	out.Scheme, out.Host = "http", "no-server-is-ready.invalid"
	for base := b.next(); ctx.Err() == nil; base = b.next() {
		if base, err := url.Parse(base); err == nil && base.Host != "" {
			out.Host = base.Host
			break
		}
		<-time.After(10 * time.Millisecond)
	}
	return &out
}

// next returns the base URL of the next ready server, or "" while there is none.
func (b *Balancer) next() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ready) == 0 {
		return ""
	}
	b.turn++
	return b.ready[b.turn%len(b.ready)]
}

// Behind returns a client of the balancer with the keys of a server.
func (b *Balancer) Behind(s *Server) *Server { return s.Through(b.URL) }

// Through returns a client with the keys of the server that sends its requests to a proxy.
func (s *Server) Through(url string) *Server {
	return &Server{t: s.t, database: s.database, client: newClient(),
		BaseURL: url, APIKey: s.APIKey, AccountID: s.AccountID, Log: s.Log}
}
