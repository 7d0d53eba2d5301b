package outbound

import (
	"fmt"
	"net"
	"net/netip"
)

// bindTest tells whether a connection can leave from an address: the system refuses
// to bind to one that no interface has. Nothing is sent.
func bindTest(addr netip.Addr) error {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(addr, 0)))
	if err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	return l.Close()
}
