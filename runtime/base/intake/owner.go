package intake

import "net/netip"

// Tenant identifies the client that something is held for: an account if the caller is known, else the
// network of its address.
type Tenant struct {
	Account string
	Remote  netip.Addr // only used without an account
}

// label identifies a share. Its fields are comparable, so that a lookup allocates nothing.
type label struct {
	account string
	prefix  netip.Prefix
}

// maxShares is how many shares one owner belongs to.
const maxShares = 2

// shareLabels returns the shares of an owner: the account, or its network and the wider one around it.
func (o Tenant) shareLabels() (list [maxShares]label, n int) {
	if o.Account != "" {
		list[0].account = o.Account
		return list, 1
	}
	levels := ContainingPrefixes(o.Remote)
	if isLocal(o.Remote) {
		list[0].prefix = levels[0]
		return list, 1
	}
	list[0].prefix, list[1].prefix = levels[1], levels[2]
	return list, maxShares
}

// ContainingPrefixes returns the ranges that contain an address, the narrowest first: one client, one network,
// and one customer of a provider. For IPv4 these are the address, its /24 and its /16. For IPv6 they are
// the /64, the /56 and the /48. An invalid address yields three equal ranges.
func ContainingPrefixes(a netip.Addr) [3]netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := [3]int{32, 24, 16}
	if a.Is6() {
		bits = [3]int{64, 56, 48}
	}
	var levels [3]netip.Prefix
	for i, n := range bits {
		if p, err := a.Prefix(n); err == nil {
			levels[i] = p
		}
	}
	return levels
}

// isLocal reports whether an address belongs to this machine or a private network. Ranges of such addresses say
// nothing about who shares them, because one address may be a proxy.
func isLocal(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
}
