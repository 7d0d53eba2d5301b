package post

import (
	"context"
	"net/netip"
	"time"

	"github.com/postrider/postrider/runtime/egress"
)

// lookupTimeout bounds the look at DNS when an endpoint is made or changed. It is
// a service to whoever mistypes; the guard that counts is the one at dial time.
const lookupTimeout = 2 * time.Second

const refusedHost = "leads to a private, local or reserved address"

// Refusal returns what is wrong with the URL of an endpoint and with where it leads, or "". A
// host that cannot be looked up now is taken: it may be there when it is needed.
func (p *Poster) Refusal(ctx context.Context, text string) string {
	host, reason := egress.CheckURL(text, p.plainLoopback)
	if reason == "" {
		reason = p.checkTarget(ctx, host)
	}
	return reason
}

// checkTarget returns what is wrong with where a host leads, or "".
func (p *Poster) checkTarget(ctx context.Context, host string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		if p.guard.Allowed(addr) != nil {
			return refusedHost
		}
		return ""
	}
	if egress.IsLocalhost(host) {
		if p.guard.Allowed(netip.AddrFrom4([4]byte{127, 0, 0, 1})) != nil {
			return refusedHost
		}
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := p.lookup(ctx, host)
	if err != nil || len(addrs) == 0 {
		return ""
	}
	for _, addr := range addrs {
		if p.guard.Allowed(addr.Unmap()) == nil {
			return ""
		}
	}
	return refusedHost
}
