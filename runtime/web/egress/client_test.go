package egress

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

func roots(s *httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return pool
}

func get(t *testing.T, c *http.Client, url string) (*http.Response, error) {
	t.Helper()
	t.Cleanup(c.CloseIdleConnections)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err == nil {
		t.Cleanup(func() { resp.Body.Close() })
	}
	return resp, err
}

func TestClientReachesAllowedHTTPS(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip") // a compressed body is recorded as sent
		io.WriteString(w, strings.Repeat("x", 3*BodyLimit))
	}))
	defer s.Close()
	resp, err := get(t, NewClient(ClientConfig{Guard: NewGuard(loopback), RootCAs: roots(s)}), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	body, truncated, err := ReadBody(resp.Body)
	if err != nil || !truncated || len(body) != BodyLimit {
		t.Errorf("ReadBody returned %d bytes, truncated %v, %v", len(body), truncated, err)
	}
}

func TestReadBodyReturnsShortResponse(t *testing.T) {
	t.Parallel()
	body, truncated, err := ReadBody(strings.NewReader(strings.Repeat("y", BodyLimit)))
	if len(body) != BodyLimit || truncated || err != nil {
		t.Errorf("ReadBody returned %d bytes, truncated %v, %v", len(body), truncated, err)
	}
}

func TestClientRejectsPrivateTargetsAtDialTime(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	url := strings.Replace(s.URL, "127.0.0.1", "localhost", 1) // the name is harmless, but the address is not
	if _, err := get(t, NewClient(ClientConfig{Guard: NewGuard(nil), RootCAs: roots(s)}), url); !errors.Is(err,
		ErrRefused) {
		t.Errorf("got the error %v, want ErrRefused", err)
	}
}

func TestClientRejectsUntrustedCertificate(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = nil
	s.StartTLS()
	defer s.Close()
	if _, err := get(t, NewClient(ClientConfig{Guard: NewGuard(loopback), RootCAs: x509.NewCertPool()}),
		s.URL); err == nil {
		t.Error("an unknown certificate authority was accepted")
	}
}

func TestPlainHTTPRequiresSettingAndLoopback(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	defer s.Close()
	if _, err := get(t, NewClient(ClientConfig{Guard: NewGuard(loopback)}), s.URL); !errors.Is(err, ErrPlainHTTP) {
		t.Errorf("without the setting, the request returned %v", err)
	}
	resp, err := get(t, NewClient(ClientConfig{Guard: NewGuard(loopback), PlainLoopback: true}), s.URL)
	if err != nil || resp.StatusCode != http.StatusNoContent {
		t.Errorf("with the setting, the request returned %v, %v", resp, err)
	}
	everywhere := NewGuard([]netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")})
	if _, err := get(t, NewClient(ClientConfig{Guard: everywhere, PlainLoopback: true}),
		"http://192.0.2.7/"); !errors.Is(err, ErrPlainHTTP) {
		t.Errorf("plain http to another machine returned %v", err)
	}
	if _, err := get(t, NewClient(ClientConfig{Guard: NewGuard(loopback), PlainLoopback: true}),
		"ftp://127.0.0.1/"); err == nil {
		t.Error("ftp was accepted")
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/secret" {
			t.Error("the redirect was followed")
		}
		http.Redirect(w, r, "/secret", http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	resp, err := get(t, NewClient(ClientConfig{Guard: NewGuard(loopback), RootCAs: roots(s)}), s.URL)
	if err != nil || resp.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("got the response %v, %v", resp, err)
	}
}

func TestProxyFromTheEnvironmentIsIgnored(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("https_proxy", "http://127.0.0.1:1")
	client := NewClient(ClientConfig{Guard: NewGuard(nil)})
	if transport := client.Transport.(byScheme).https; transport.Proxy != nil {
		t.Error("the transport has a proxy function")
	}
}

func TestStalledResponseEndsAtTotalTimeout(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-release
	}))
	defer s.Close()
	defer close(release)
	var resp *http.Response
	var err error
	// the response header must arrive within this time
	for _, total := range []time.Duration{200 * time.Millisecond, 2 * time.Second, 20 * time.Second} {
		if resp, err = get(t, NewClient(ClientConfig{Guard: NewGuard(loopback), RootCAs: roots(s), Timeout: total}),
			s.URL); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = ReadBody(resp.Body)
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("got the error %v, want a timeout", err)
	}
}

func TestClientUsesConfiguredLookup(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	defer s.Close()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	nowhere := errors.New("nowhere")
	lookup := func(_ context.Context, host string) ([]netip.Addr, error) {
		switch host {
		case "good.example.com": // the first address refuses connections
			return []netip.Addr{netip.MustParseAddr("127.0.0.9"), netip.MustParseAddr("127.0.0.1")}, nil
		case "private.example.com":
			return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
		case "empty.example.com":
			return nil, nil
		}
		return nil, nowhere
	}
	c := NewClient(ClientConfig{Guard: NewGuard(loopback), RootCAs: roots(s), Lookup: lookup})
	for host, want := range map[string]error{"good.example.com": nil, "private.example.com": ErrRefused,
		"empty.example.com": nil, "lost.example.com": nowhere} {
		_, err := get(t, c, "https://"+net.JoinHostPort(host, port))
		if host == "empty.example.com" {
			if err == nil || !strings.Contains(err.Error(), "has no address") {
				t.Errorf("a request to %s returned %v, want an error that it has no address", host, err)
			}
		} else if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", host, err, want)
		}
	}
	if _, err := get(t, c, s.URL); err != nil { // an address needs no lookup
		t.Error(err)
	}
}
