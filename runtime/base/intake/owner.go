package intake

import "net/netip"

// Owner is whom something is held for: an account, where the caller is known, else
// the neighbourhood that a stranger comes from.
type Owner struct {
	Account string
	Remote  netip.Addr // looked at without an account only
}

// label names a share. Its fields are comparable, so that a look-up allocates nothing.
type label struct {
	account string
	prefix  netip.Prefix
}

// maxShares is how many shares one owner belongs to.
const maxShares = 2

// labels are the shares of an owner: the account, or the neighbourhood and the wider
// one around it.
func (o Owner) labels() (list [maxShares]label, n int) {
	if o.Account != "" {
		list[0].account = o.Account
		return list, 1
	}
	levels := Neighbourhoods(o.Remote)
	if own(o.Remote) {
		list[0].prefix = levels[0]
		return list, 1
	}
	list[0].prefix, list[1].prefix = levels[1], levels[2]
	return list, maxShares
}

// Neighbourhoods are the ranges that an address is in, the narrowest first: what counts
// as one client, what one network has, and what one customer of a provider may have. In
// IPv4 these are the address, its /24 and its /16. In IPv6 a client has a /64, and the
// wider ones are the /56 and the /48. An address that is none gives three equal ranges.
func Neighbourhoods(a netip.Addr) [3]netip.Prefix {
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

// own tells addresses that no stranger has: of this machine and of private networks. A
// range of them is no measure of who shares it, for behind one address there may be a
// proxy.
func own(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
}
