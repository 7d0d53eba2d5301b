package authn

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/mjl-/mox/dns"
)

// checkReverse reports whether a name of the address resolves back to it (RFC 8601, 3), and returns the first such
// name. It replaces mox's function, which logs every lookup to standard error.
func (v *Verifier) checkReverse(ctx context.Context, ip netip.Addr) (word, name string) {
	names, _, err := v.resolver.LookupAddr(ctx, ip.Unmap().WithZone("").String())
	switch {
	case dns.IsNotFound(err):
		return permerror, ""
	case err != nil:
		return temperror, ""
	}
	word = "fail"
	for _, name := range names {
		ips, _, err := v.resolver.LookupIP(ctx, "ip", name)
		if slices.ContainsFunc(ips, addressBytes(ip).Equal) {
			return "pass", strings.TrimSuffix(name, ".")
		}
		if err != nil && !dns.IsNotFound(err) {
			word = temperror
		}
	}
	return word, ""
}
