package clientip

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// forwarding are the header fields that proxies add.
var forwarding = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"}

// IsLocalRequest reports whether a request came from this machine, was not forwarded by a proxy that
// identifies itself, and was addressed to a name or an address that only this machine has.
func IsLocalRequest(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() || !IsLocalHost(r.Host) {
		return false
	}
	for _, field := range forwarding {
		if len(r.Header.Values(field)) > 0 {
			return false
		}
	}
	return true
}

// IsDirectLocalRequest is IsLocalRequest, but rejects requests that a proxy may have forwarded without
// identifying itself: over HTTP/1.0, or with a connection that ends after them, like nginx does by default
// before version 1.29.7. Later versions, and other proxies with the same configuration, cannot be
// distinguished from a program on this machine. Behind such a proxy, no request can be proven to be local.
func IsDirectLocalRequest(r *http.Request) bool {
	return IsLocalRequest(r) && r.ProtoAtLeast(1, 1) && !r.Close
}

// IsLocalHost reports whether a Host header, with or without a port, refers to this machine: localhost, a
// name below it, or a loopback address.
func IsLocalHost(host string) bool {
	name := HostName(host)
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.Unmap().IsLoopback()
	}
	// RFC 6761 section 6.3: names below localhost are loopback.
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// HostName returns the name or address in a Host header: without port and brackets, in lower case.
func HostName(host string) string {
	if bare, _, err := net.SplitHostPort(host); err == nil {
		host = bare
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
}
