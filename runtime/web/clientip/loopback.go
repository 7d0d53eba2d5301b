package clientip

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// forwarding are the header fields that proxies add.
var forwarding = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"}

// Request tells whether a request came from this machine, through no proxy that says so,
// to a name or an address that only this machine has.
func Request(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() || !Host(r.Host) {
		return false
	}
	for _, field := range forwarding {
		if len(r.Header.Values(field)) > 0 {
			return false
		}
	}
	return true
}

// Direct is Request, without the requests that a proxy may have passed on without saying so: over
// HTTP/1.0, or with a connection that ends after them. That is how nginx does by default, before version
// 1.29.7. Later versions, and others that are set up so, cannot be told from a program of this machine:
// where a proxy is in front, no request proves that it comes from here.
func Direct(r *http.Request) bool { return Request(r) && r.ProtoAtLeast(1, 1) && !r.Close }

// Host tells whether a Host header, with a port or without, names this machine itself:
// localhost, a name below it, or a loopback address.
func Host(host string) bool {
	name := Name(host)
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.Unmap().IsLoopback()
	}
	// RFC 6761 section 6.3: names below localhost are loopback.
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// Name is the name or address of a Host header: without port and brackets, in lower case.
func Name(host string) string {
	if bare, _, err := net.SplitHostPort(host); err == nil {
		host = bare
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
}
