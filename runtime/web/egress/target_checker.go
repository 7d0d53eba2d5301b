package egress

import (
	"context"
	"net/netip"
	"time"
)

// LookupTimeout limits the DNS query for a URL that is being saved.
const LookupTimeout = 2 * time.Second

// PrivateTarget is the problem of a URL whose host has only addresses that the guard rejects. It continues a
// sentence.
const PrivateTarget = "resolves to a private, local or reserved address"

// TargetChecker checks URLs when they are saved, so that a mistake is reported before the first request. The
// guard decides again at dial time. It is safe for concurrent use.
type TargetChecker struct {
	guard         *Guard
	lookup        func(ctx context.Context, host string) ([]netip.Addr, error)
	plainLoopback bool
}

// NewTargetChecker returns a new TargetChecker. A nil lookup is the system's resolver. With plainLoopback, it
// accepts http:// to this machine.
func NewTargetChecker(guard *Guard, lookup func(context.Context, string) ([]netip.Addr, error),
	plainLoopback bool) *TargetChecker {
	return &TargetChecker{guard: guard, lookup: WithLocalhost(lookup), plainLoopback: plainLoopback}
}

// Problem returns the problem of a URL, or "". It accepts a host that cannot be resolved now, because the
// host may exist later.
func (c *TargetChecker) Problem(ctx context.Context, text string) string {
	host, problem := CheckURL(text, c.plainLoopback)
	if problem != "" {
		return problem
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if c.guard.CheckAddress(addr) != nil {
			return PrivateTarget
		}
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, LookupTimeout)
	defer cancel()
	addrs, err := c.lookup(ctx, host)
	if err != nil || len(addrs) == 0 {
		return ""
	}
	for _, addr := range addrs {
		if c.guard.CheckAddress(addr.Unmap()) == nil {
			return ""
		}
	}
	return PrivateTarget
}
