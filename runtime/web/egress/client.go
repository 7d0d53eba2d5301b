package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// BodyLimit is the maximum number of bytes of a response that are kept.
const BodyLimit = 4 << 10

// ErrPlainHTTP is returned for an http:// URL where only https:// is allowed.
var ErrPlainHTTP = errors.New("only https targets are allowed")

// ClientConfig configures the outbound HTTP client. Zero durations use the defaults.
type ClientConfig struct {
	Guard *Guard // required
	// development: also allow http://, but only to loopback addresses (which the guard must allow)
	PlainLoopback  bool
	ConnectTimeout time.Duration  // TCP and TLS, each; default 5 s
	Timeout        time.Duration  // for the whole exchange including the body; default 10 s
	RootCAs        *x509.CertPool // default: the system's

	// Lookup returns the addresses of a host; default: the system's resolver. The guard checks each address
	// when it is dialed, regardless of its source.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
}

// NewClient returns the client for webhook and automation calls. It never follows a redirect but returns it
// as the response, because callers treat a 3xx as a failure.
func NewClient(cfg ClientConfig) *http.Client {
	if cfg.ConnectTimeout <= 0 {
		cfg.ConnectTimeout = 5 * time.Second
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 10 * time.Second
	}
	schemes := byScheme{https: newTransport(cfg, cfg.Guard.Control)}
	if cfg.PlainLoopback {
		schemes.plain = newTransport(cfg, func(network, address string, c syscall.RawConn) error {
			if err := loopbackOnly(address); err != nil {
				return err
			}
			return cfg.Guard.Control(network, address, c)
		})
	}
	return &http.Client{
		Transport:     schemes,
		Timeout:       cfg.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func newTransport(cfg ClientConfig, control func(string, string, syscall.RawConn) error) *http.Transport {
	dialer := &net.Dialer{Timeout: cfg.ConnectTimeout, Control: control}
	return &http.Transport{
		Proxy:                  nil, // never from the environment: a proxy would dial past the guard
		DialContext:            dialBy(cfg.Lookup, dialer),
		TLSHandshakeTimeout:    cfg.ConnectTimeout,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.RootCAs},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // responses are recorded as sent
		MaxIdleConns:           512,
		MaxIdleConnsPerHost:    128, // many customers have their endpoints on the same host
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// dialBy returns a dial function that tries the addresses from lookup in turn, until one connects.
func dialBy(lookup func(context.Context, string) ([]netip.Addr, error),
	dialer *net.Dialer) func(context.Context, string, string) (net.Conn, error) {
	if lookup == nil {
		return dialer.DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if _, err := netip.ParseAddr(host); err == nil {
			return dialer.DialContext(ctx, network, address)
		}
		addrs, err := lookup(ctx, host)
		if err != nil {
			return nil, err
		}
		failed := fmt.Errorf("%s has no address", host)
		for _, addr := range addrs {
			var conn net.Conn
			if conn, failed = dialer.DialContext(ctx, network, net.JoinHostPort(addr.String(), port)); failed == nil {
				return conn, nil
			}
		}
		return nil, failed
	}
}

// byScheme sends https and, if allowed, http requests over separate transports. Only the scheme determines
// whether the address must be loopback.
type byScheme struct {
	https, plain *http.Transport
}

func (s byScheme) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case r.URL.Scheme == "https":
		return s.https.RoundTrip(r)
	case r.URL.Scheme == "http" && s.plain != nil:
		return s.plain.RoundTrip(r)
	}
	return nil, closeBody(r, fmt.Errorf("%w: %s", ErrPlainHTTP, r.URL.Redacted()))
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach both transports.
func (s byScheme) CloseIdleConnections() {
	s.https.CloseIdleConnections()
	if s.plain != nil {
		s.plain.CloseIdleConnections()
	}
}

// closeBody closes the request body. A RoundTripper must also do this when it rejects the request.
func closeBody(r *http.Request, err error) error {
	if r.Body != nil {
		return errors.Join(err, r.Body.Close())
	}
	return err
}

func loopbackOnly(address string) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return &RefusedError{Address: address, cause: err}
	}
	if !target.Addr().IsLoopback() {
		return fmt.Errorf("%w: %s is not on this machine", ErrPlainHTTP, address)
	}
	return nil
}

// ReadBody returns the first BodyLimit bytes of a response. truncated reports that there was more, which is
// left unread. The caller closes the body.
func ReadBody(r io.Reader) (body []byte, truncated bool, err error) {
	body, err = io.ReadAll(io.LimitReader(r, BodyLimit+1))
	if len(body) > BodyLimit {
		return body[:BodyLimit], true, err
	}
	return body, false, err
}
