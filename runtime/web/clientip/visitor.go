package clientip

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// From returns the address of the client, or the zero address if it is unknown. Behind trusted proxies it is
// the last entry of X-Forwarded-For that they did not add themselves: the client may have forged everything
// before it.
func From(r *http.Request, proxies []netip.Prefix) netip.Addr {
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
		before, err := parseAddr(strings.TrimSpace(chain[i]))
		if err != nil {
			return at
		}
		at = before
	}
	return at
}

// parseAddr parses an address, with or without a port.
func parseAddr(text string) (netip.Addr, error) {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return addr.Unmap(), err
}
