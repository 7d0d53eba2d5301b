// Package machine says what this machine has: the addresses that a connection can leave from, and
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

// Addresses are those of a machine. Safe for concurrent use.
type Addresses interface {
	// List gives them in order. One of a loopback interface stands for its network, all of
	// which the machine has.
	List() (Networks, error)
	// Has tells whether a connection can leave from an address now.
	Has(addr netip.Addr) bool
}

// Interfaces are the addresses of this machine's interfaces.
type Interfaces struct{}

// Networks are addresses as they are stored: one of a single address for each, or one of
// which a machine has all. They are also a machine that has them, for tests.
type Networks []netip.Prefix

var (
	_ Addresses = Interfaces{}
	_ Addresses = Networks(nil)
)

// List asks the interfaces that are up. Addresses of one link alone are left out: no mail
// leaves from them.
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
			continue // the interface went meanwhile
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
				all = append(all, Single(addr))
			}
		}
	}
	return all.inOrder(), nil
}

// Has tries to bind to the address; nothing is sent. Where the system lets anybody bind to
// any address, it has those that it lists.
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
	_ = l.Close() // nobody was let in
	return true
}

// bindsToAny asks for ip_nonlocal_bind, which is set on machines that take over each
// other's addresses.
func bindsToAny(addr netip.Addr) bool {
	family := "ipv4"
	if addr.Is6() {
		family = "ipv6"
	}
	set, err := os.ReadFile("/proc/sys/net/" + family + "/ip_nonlocal_bind")
	return err == nil && strings.TrimSpace(string(set)) == "1"
}

// Single is the network of one address.
func Single(addr netip.Addr) netip.Prefix { return netip.PrefixFrom(addr, addr.BitLen()) }

// List gives them in order.
func (n Networks) List() (Networks, error) { return slices.Clone(n).inOrder(), nil }

// Has tells whether an address is among them.
func (n Networks) Has(addr netip.Addr) bool {
	return slices.ContainsFunc(n, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
}

// Texts shows each, a single address as 198.51.100.7.
func (n Networks) Texts() []string {
	texts := make([]string, len(n))
	for i, p := range n {
		if texts[i] = p.String(); p.IsSingleIP() {
			texts[i] = p.Addr().String()
		}
	}
	return texts
}

// MarshalJSON gives the list of Texts.
func (n Networks) MarshalJSON() ([]byte, error) { return json.Marshal(n.Texts()) }

// UnmarshalJSON reads such a list. What it does not know is left out: a newer version may
// have written it.
func (n *Networks) UnmarshalJSON(text []byte) error {
	var list []string
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*n = nil
	for _, entry := range list {
		if addr, err := netip.ParseAddr(entry); err == nil {
			*n = append(*n, Single(addr))
		} else if p, err := netip.ParsePrefix(entry); err == nil {
			*n = append(*n, p)
		}
	}
	return nil
}

// inOrder has each once, those of loopback interfaces last.
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
