package node

import (
	"encoding/json"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/work/node/machine"
)

// mostAddresses limits how many addresses a row lists.
const mostAddresses = 256

// ownAddresses tracks the addresses in the row of this process: those of its machine, except the ones from
// which sending failed.
type ownAddresses struct {
	machine machine.Addresses

	mutex  sync.Mutex
	looked time.Time
	found  machine.Networks
	tried  map[netip.Addr]bool // whether a connection can leave from the address
	stored string              // the current content of the row, as JSON
}

// refreshAddresses reads the addresses of the machine, at most once per interval. If that fails, the previous ones are
// kept.
func (o *ownAddresses) refreshAddresses(every time.Duration) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if time.Since(o.looked) < every {
		return
	}
	if found, err := o.machine.List(); err == nil {
		o.found, o.looked = found, time.Now()
	}
}

// addressList returns the addresses for the row: those known to work first.
func (o *ownAddresses) addressList() machine.Networks {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	var all machine.Networks
	for addr, has := range o.tried {
		if has && !o.found.Has(addr) {
			all = append(all, machine.SingleNetwork(addr))
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

// changedList returns the list as JSON if it differs from the row, and otherwise nil.
func (o *ownAddresses) changedList() *string {
	text, err := json.Marshal(o.addressList())
	if err != nil {
		return nil // cannot happen: a list of strings
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if news := string(text); news != o.stored {
		return &news
	}
	return nil
}

// recordStored records the current content of the row.
func (o *ownAddresses) recordStored(news *string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if news != nil {
		o.stored = *news
	}
}

// resetStored makes the next beat write the whole list, into a new row.
func (o *ownAddresses) resetStored() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.stored = ""
}

// Has reports whether a connection of this process can currently leave from an address.
func (n *Node) Has(addr netip.Addr) bool { return n.own.machine.Has(addr) }

// RecordTrials records for which addresses a trial connection succeeded or failed: the row contains the
// former but not the latter. It replaces earlier results.
func (n *Node) RecordTrials(addresses map[netip.Addr]bool) {
	n.own.mutex.Lock()
	defer n.own.mutex.Unlock()
	n.own.tried = addresses
}
