package smtpclient

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/postrider/postrider/runtime/mail/lane"
)

// Way is by which a message leaves. Its zero value is what the Config says.
type Way struct {
	Label      string       // names the way in lanes and records; a smarthost's is lane.SmarthostWay
	LocalAddrs []netip.Addr // to send from, one per family; a target of a family without one is passed over
	Hostname   string       // for EHLO
	Smarthost  *Smarthost   // takes the message instead of the recipient's mail hosts
}

// way fills in what the Config says. Host and port of a smarthost of the way's own
// name the way, if nothing else does.
func (t *Transport) way(w Way) Way {
	w.Hostname = cmp.Or(w.Hostname, t.cfg.Hostname)
	if w.Smarthost == nil {
		w.Smarthost = t.cfg.Smarthost
	} else if w.Label == "" {
		w.Label = lane.SmarthostWay(w.Smarthost.address())
	}
	return w
}

// key tells ways apart whose connections differ.
func (w Way) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %v", w.Label, w.Hostname, w.LocalAddrs)
	return b.String()
}

// local is the address to reach a target from; ok is false if there is none of its
// family. The zero address leaves the choice to the system.
func (w Way) local(target netip.Addr) (addr netip.Addr, ok bool) {
	if len(w.LocalAddrs) == 0 {
		return netip.Addr{}, true
	}
	for _, a := range w.LocalAddrs {
		if a = a.Unmap(); a.Is4() == target.Is4() {
			return a, true
		}
	}
	return netip.Addr{}, false
}

func (s Smarthost) address() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// Set is the lane set of the smarthost.
func (s Smarthost) Set() lane.Set {
	return lane.Set{Name: s.address(), Hosts: []string{s.Host}, Own: true}
}
