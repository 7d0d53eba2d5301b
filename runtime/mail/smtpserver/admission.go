package smtpserver

import (
	"net"
	"net/netip"
	"sync"
)

// admission counts connections in all and by where they come from.
type admission struct {
	most, each int

	mu        sync.Mutex
	all       int
	byAddress map[netip.Prefix]int
}

func newAdmission(most, each int) *admission {
	return &admission{most: most, each: each, byAddress: map[netip.Prefix]int{}}
}

// enter counts a connection whose address is not known yet.
func (a *admission) enter() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all >= a.most {
		return false
	}
	a.all++
	return true
}

func (a *admission) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all--
}

func (a *admission) enterFrom(p netip.Prefix) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byAddress[p] >= a.each {
		return false
	}
	a.byAddress[p]++
	return true
}

func (a *admission) leaveFrom(p netip.Prefix) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byAddress[p]--; a.byAddress[p] <= 0 {
		delete(a.byAddress, p)
	}
}

// neighbourhood is what counts as one client: a /64 is what one has of IPv6.
func neighbourhood(addr netip.Addr) netip.Prefix {
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	p, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // no address at all: all of these count together
	}
	return p
}

func addressOf(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}
