// Package machine reports the resources of this machine: the addresses from which a connection can leave, and
// memory.
package machine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// Addresses are the addresses of a machine. It is safe for concurrent use.
type Addresses interface {
	// List returns the addresses in order. An address of a loopback interface represents its network, because
	// the machine has all of its addresses.
	List() (Networks, error)
	// Has reports whether a connection can currently leave from an address.
	Has(addr netip.Addr) bool
}

// Interfaces are the addresses of this machine's interfaces.
type Interfaces struct{}

// Networks contains stored addresses: single addresses, or whole networks that a machine has. It also
// implements Addresses, for tests.
type Networks []netip.Prefix

var (
	_ Addresses = Interfaces{}
	_ Addresses = Networks(nil)
)

// List reads the interfaces that are up. It omits link-local addresses, from which no mail is sent.
func (Interfaces) List() (Networks, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("addresses of this machine: %w", err)
	}
	var all Networks
	for _, i := range interfaces {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		addrs, err := i.Addrs()
		if err != nil {
			continue // the interface disappeared in the meantime
		}
		for _, a := range addrs {
			prefix, err := netip.ParsePrefix(a.String())
			if err != nil {
				continue
			}
			addr := prefix.Addr().Unmap()
			switch {
			case addr.IsLinkLocalUnicast() || addr.IsMulticast() || addr.IsUnspecified():
			case i.Flags&net.FlagLoopback != 0 && addr.Is4() && prefix.Bits() <= addr.BitLen():
				all = append(all, netip.PrefixFrom(addr, prefix.Bits()).Masked())
			default:
				all = append(all, SingleNetwork(addr))
			}
		}
	}
	return all.inOrder(), nil
}

// Has tries to bind to the address; no data is sent. If the system allows binding to any address, Has checks
// the list instead.
func (i Interfaces) Has(addr netip.Addr) bool {
	addr = addr.Unmap()
	if bindsToAny(addr) {
		list, err := i.List()
		return err == nil && list.Has(addr)
	}
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(addr, 0)))
	if err != nil {
		return false
	}
	_ = l.Close() // no connection was accepted
	return true
}

// bindsToAny reads ip_nonlocal_bind, which is set on machines that take over each other's addresses.
func bindsToAny(addr netip.Addr) bool {
	family := "ipv4"
	if addr.Is6() {
		family = "ipv6"
	}
	set, err := os.ReadFile("/proc/sys/net/" + family + "/ip_nonlocal_bind")
	return err == nil && strings.TrimSpace(string(set)) == "1"
}

// SingleNetwork returns the network of one address.
func SingleNetwork(addr netip.Addr) netip.Prefix { return netip.PrefixFrom(addr, addr.BitLen()) }

// List returns them in order.
func (n Networks) List() (Networks, error) { return slices.Clone(n).inOrder(), nil }

// Has reports whether an address is in one of the networks.
func (n Networks) Has(addr netip.Addr) bool {
	return slices.ContainsFunc(n, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
}

// Texts returns each as text; single addresses without a prefix length.
func (n Networks) Texts() []string {
	texts := make([]string, len(n))
	for i, p := range n {
		if texts[i] = p.String(); p.IsSingleIP() {
			texts[i] = p.Addr().String()
		}
	}
	return texts
}

// MarshalJSON encodes the list of Texts.
func (n Networks) MarshalJSON() ([]byte, error) { return json.Marshal(n.Texts()) }

// UnmarshalJSON decodes such a list. It skips unknown entries, which a newer version may have written.
func (n *Networks) UnmarshalJSON(text []byte) error {
	var list []string
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*n = nil
	for _, entry := range list {
		if addr, err := netip.ParseAddr(entry); err == nil {
			*n = append(*n, SingleNetwork(addr))
		} else if p, err := netip.ParsePrefix(entry); err == nil {
			*n = append(*n, p)
		}
	}
	return nil
}

// inOrder sorts and deduplicates, with loopback networks last.
func (n Networks) inOrder() Networks {
	slices.SortFunc(n, func(a, b netip.Prefix) int {
		if la, lb := a.Addr().IsLoopback(), b.Addr().IsLoopback(); la != lb {
			if la {
				return 1
			}
			return -1
		}
		return cmp.Or(a.Addr().Compare(b.Addr()), a.Bits()-b.Bits())
	})
	return slices.Compact(n)
}
