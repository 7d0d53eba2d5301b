// Package egress connects to hosts that users of the API specify: webhook targets and mail hosts.
//
// A Guard decides by address, at dial time, after DNS, so a name that resolves to a public address when
// checked and to a private one when dialed is rejected. It rejects all special-purpose addresses (the IANA
// registries, every IPv6 range outside of global unicast including embedded-IPv4 forms, ISATAP below any
// prefix, cloud metadata services). An operator may allow additional prefixes.
//
// NewClient returns the only outbound HTTP client: https only, no proxy from the environment, redirects not
// followed, timeouts, size-limited responses.
package egress

import (
	"errors"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// ErrRefused matches every error of the guard.
var ErrRefused = errors.New("address refused")

// RefusedError contains the rejected address, for operators.
type RefusedError struct {
	Address string
	cause   error
}

func (e *RefusedError) Error() string {
	return e.Address + " is a private, local or reserved address"
}

// Is makes every RefusedError an ErrRefused.
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// Unwrap returns the rule that rejected the address.
func (e *RefusedError) Unwrap() error { return e.cause }

// Cloud services with addresses outside the special-purpose ranges.
var deniedV4 = []netip.Prefix{
	netip.MustParsePrefix("168.63.129.16/32"), // Azure's host agent
}

// The library's list follows IANA; these ranges used to be global unicast.
var deniedV6 = []netip.Prefix{
	netip.MustParsePrefix("3ffe::/16"), // 6bone, returned (RFC 3701)
}

// isISATAP reports whether an interface identifier is an ISATAP identifier (RFC 5214 section 6.1): below
// any prefix, its last 32 bits are an IPv4 address to which a host with such an interface sends the packet.
// The two lowest bits of the first byte are flags.
func isISATAP(addr netip.Addr) bool {
	b := addr.As16()
	return addr.Is6() && b[8]&^3 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

var errISATAP = errors.New("ISATAP address")

// Guard decides which addresses may be dialed. It is safe for concurrent use.
type Guard struct {
	rules   *ssrf.Guardian
	allowV6 []netip.Prefix
}

// NewGuard returns a guard that allows public addresses and the given prefixes.
func NewGuard(allow []netip.Prefix) *Guard {
	var v4, v6 []netip.Prefix
	for _, p := range allow {
		if p.Addr().Is4() {
			v4 = append(v4, p.Masked())
		} else {
			v6 = append(v6, p.Masked())
		}
	}
	return &Guard{allowV6: v6, rules: ssrf.New(
		ssrf.WithAnyPort(),
		ssrf.WithNetworks("tcp4", "tcp6"),
		ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...),
		ssrf.WithDeniedV4Prefixes(deniedV4...), ssrf.WithDeniedV6Prefixes(deniedV6...),
	)}
}

// Control implements net.Dialer.Control. It checks the address that is about to be dialed, regardless of the
// name that resolved to it.
func (g *Guard) Control(network, address string, c syscall.RawConn) error {
	if err := g.rules.Safe(network, address, c); err != nil {
		return &RefusedError{Address: address, cause: err}
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return &RefusedError{Address: address, cause: err}
	}
	return g.refuseTunnelled(target.Addr())
}

// refuseTunnelled rejects addresses that can be below any prefix.
func (g *Guard) refuseTunnelled(addr netip.Addr) error {
	allowed := func(p netip.Prefix) bool { return p.Contains(addr) }
	if isISATAP(addr) && !slices.ContainsFunc(g.allowV6, allowed) {
		return &RefusedError{Address: addr.String(), cause: errISATAP}
	}
	return nil
}

// CheckAddress checks an address before it is dialed.
func (g *Guard) CheckAddress(addr netip.Addr) error {
	if !addr.IsValid() {
		return &RefusedError{Address: "no address", cause: ErrRefused}
	}
	if err := g.rules.SafeAddr(addr); err != nil {
		return &RefusedError{Address: addr.String(), cause: err}
	}
	return g.refuseTunnelled(addr)
}
