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

// Way is how a message is sent. The zero value uses Config.
type Way struct {
	Label      string       // name of the way in lanes and records; for a smarthost it is lane.SmarthostWay
	LocalAddrs []netip.Addr // to send from, one per family; targets of a family without one are skipped
	Hostname   string       // for EHLO
	Smarthost  *Smarthost   // receives the message instead of the recipient's mail hosts
}

// completeWay fills in the values of Config. If nothing else names the way, it is named after the host and port of
// its smarthost.
func (t *Transport) completeWay(w Way) Way {
	w.Hostname = cmp.Or(w.Hostname, t.cfg.Hostname)
	if w.Smarthost == nil {
		w.Smarthost = t.cfg.Smarthost
	} else if w.Label == "" {
		w.Label = lane.SmarthostWay(w.Smarthost.hostPort())
	}
	return w
}

// wayKey distinguishes ways whose connections differ.
func (w Way) wayKey() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %v", w.Label, w.Hostname, w.LocalAddrs)
	return b.String()
}

// localAddr returns the address to send from to a target; ok is false if the way has no address of that family.
// The zero address leaves the choice to the system.
func (w Way) localAddr(target netip.Addr) (addr netip.Addr, ok bool) {
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

func (s Smarthost) hostPort() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// Set returns the lane set of the smarthost.
func (s Smarthost) Set() lane.Set {
	return lane.Set{Name: s.hostPort(), Hosts: []string{s.Host}, Own: true}
}
