package clientip

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Of is the address that asks; the zero address where it cannot be told. Behind proxies that are known
// it is the last one of X-Forwarded-For that they have not added themselves: what stands before it
// anybody may have written.
func Of(r *http.Request, proxies []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	at := peer.Addr().Unmap()
	known := func() bool { return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(at) }) }
	if !known() {
		return at
	}
	chain := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(chain) - 1; i >= 0 && known(); i-- {
		before, err := parse(strings.TrimSpace(chain[i]))
		if err != nil {
			return at
		}
		at = before
	}
	return at
}

// parse reads an address, with a port or without.
func parse(text string) (netip.Addr, error) {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return addr.Unmap(), err
}
