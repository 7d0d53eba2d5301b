package node

import (
	"encoding/json"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/work/node/machine"
)

// mostAddresses bounds what a row lists.
const mostAddresses = 256

// own are the addresses that the row of this process lists: those of its machine, and what
// was found out about them by who leaves from them.
type own struct {
	machine machine.Addresses

	mutex  sync.Mutex
	looked time.Time
	found  machine.Networks
	tried  map[netip.Addr]bool // whether a connection can leave from there
	stored string              // what the row says, as JSON
}

// look asks the machine, if that was long ago. What it does not say now stays as it was.
func (o *own) look(every time.Duration) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if time.Since(o.looked) < every {
		return
	}
	if found, err := o.machine.List(); err == nil {
		o.found, o.looked = found, time.Now()
	}
}

// list gives what the row is to list: first the addresses that are known to work.
func (o *own) list() machine.Networks {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	var all machine.Networks
	for addr, has := range o.tried {
		if has && !o.found.Has(addr) {
			all = append(all, machine.Single(addr))
		}
	}
	slices.SortFunc(all, func(a, b netip.Prefix) int { return a.Addr().Compare(b.Addr()) })
	for _, p := range o.found {
		if has, tried := o.tried[p.Addr()]; has || !tried || !p.IsSingleIP() {
			all = append(all, p)
		}
	}
	return all[:min(len(all), mostAddresses)]
}

// news gives the list as JSON if the row says something else.
func (o *own) news() *string {
	text, err := json.Marshal(o.list())
	if err != nil {
		return nil // cannot be: a list of texts
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if news := string(text); news != o.stored {
		return &news
	}
	return nil
}

// told notes what the row says now.
func (o *own) told(news *string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if news != nil {
		o.stored = *news
	}
}

// forget has the whole list written again, into a new row.
func (o *own) forget() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.stored = ""
}

// Has tells whether a connection of this process can leave from an address now.
func (n *Node) Has(addr netip.Addr) bool { return n.own.machine.Has(addr) }

// Tried tells the node from which addresses connections could leave when that was tried,
// and from which they could not: its row lists the former and not the latter. They take the
// place of what was told before.
func (n *Node) Tried(addresses map[netip.Addr]bool) {
	n.own.mutex.Lock()
	defer n.own.mutex.Unlock()
	n.own.tried = addresses
}
