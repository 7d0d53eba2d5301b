package outbound

import (
	"context"
	"net/netip"
	"slices"
	"time"

	entsource "github.com/postrider/postrider/ent/source"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/work/node"
	"github.com/postrider/postrider/runtime/work/node/machine"
)

// Nodes lists this process, the other processes, and the addresses from which this process can send.
type Nodes interface {
	Self() node.Process
	Others() []node.Process
	Has(addr netip.Addr) bool
	RecordTrials(addresses map[netip.Addr]bool)
}

var _ Nodes = (*node.Node)(nil)

// Routing says which process takes the mail queued for a way.
type Routing int

const (
	// Open means that this process may take the mail: it has the way, or the way no longer exists.
	Open Routing = iota
	// Orphaned means that no process has the way, and this process may choose another way for its queued
	// mail.
	Orphaned
	// OnOtherNode means that another process has the way, or had it recently.
	OnOtherNode
	// Unroutable means that no process has had the way for long and there is no alternative: the account
	// sends only from its own addresses.
	Unroutable
)

// reach is the distance of an address; nearer addresses come first.
type reach int

const (
	here   reach = iota
	away         // another process has the address
	absent       // no process has the address, but one had it recently
	gone         // no process has had the address for Config.GoneAfter
)

// tiers are the outlets of a pool by reach.
type tiers [gone + 1][]*outlet

// RoutingOf returns which process takes the mail queued for the way of a label.
func (w *Ways) RoutingOf(label string) Routing {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	o := w.known.findOutlet(label)
	if o == nil || o.reach == here {
		return Open
	}
	pool := w.known.shared
	switch o.sources[0].pool {
	case entsource.PoolDedicated:
		if o.reach == gone {
			return Unroutable
		}
		return OnOtherNode
	case entsource.PoolPool:
		pool = w.known.pool
	}
	if o.reach == gone || o.reach == absent && len(pool[here]) > 0 {
		return Orphaned
	}
	return OnOtherNode
}

// locateSources determines the reach of each source and the number of processes that share it. It reports the
// sources that connections can use to the node.
func (r *reader) locateSources(ctx context.Context, into *snapshot) {
	if r.nodes == nil {
		return // every source is local
	}
	self, others, now := r.nodes.Self(), r.nodes.Others(), time.Now()
	sources := into.sources
	into.among = countSharing(self, others, func(node.Process) bool { return true })
	tried, had := map[netip.Addr]bool{}, map[string]time.Time{}
	for i := range sources {
		src := &sources[i]
		last, known := r.had[src.id]
		if !known {
			last = src.lastSeen(others, now)
		}
		has := r.nodes.Has(src.addr)
		tried[src.addr] = has
		src.among = countSharing(self, others, func(p node.Process) bool { return p.DeliversFrom(src.addr, src.node) })
		switch {
		case has && (src.node == "" || src.node == self.Name):
			src.reach, last = here, now
		case slices.ContainsFunc(others,
			func(p node.Process) bool { return p.Alive && p.DeliversFrom(src.addr, src.node) }):
			src.reach, last = away, now
		case now.Sub(last) < r.goneAfter:
			src.reach = absent
		default:
			src.reach = gone
			if !r.isGone[src.id] && !src.paused {
				r.log.WarnContext(ctx,
					"no process has a source address; its mail uses other addresses, or waits if the address is dedicated", telemetry.KeyAddress, src.addr, "pool", src.pool, "node", src.node)
			}
		}
		had[src.id] = last
	}
	r.nodes.RecordTrials(tried)
	r.had, r.isGone = had, map[string]bool{}
	for _, src := range sources {
		r.isGone[src.id] = src.reach == gone
	}
}

// lastSeen returns when a process last had the address according to the node rows, or now if unknown.
func (src source) lastSeen(others []node.Process, now time.Time) time.Time {
	last, found := now, false
	for _, p := range others {
		if at := now.Add(-p.Silent); p.DeliversFrom(src.addr, src.node) && (!found || at.After(last)) {
			last, found = at, true
		}
	}
	return last
}

// byReach groups the outlets by reach.
func byReach(all []*outlet) (by tiers) {
	for _, o := range all {
		by[o.reach] = append(by[o.reach], o)
	}
	return by
}

// CountSharing returns how many processes share a mailbox provider's limits for the way of a label: the live
// processes that deliver from the same address. It is at least 1.
func (w *Ways) CountSharing(label string) int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.known == nil {
		return 1
	}
	if o := w.known.findOutlet(label); o != nil {
		return max(1, o.among)
	}
	return max(1, w.known.among)
}

// countSharing counts this process and those other delivering processes with the same public address that
// match the predicate.
func countSharing(self node.Process, others []node.Process, too func(node.Process) bool) int {
	n := 1
	for _, p := range others {
		if p.Alive && p.Is(node.Delivers) && p.Egress == self.Egress && too(p) {
			n++
		}
	}
	return n
}

// hasAddress reports whether a live process can deliver from an address: the named process, or any if the
// name is empty. If no process is running, it checks this machine.
func hasAddress(list []node.Process, addr netip.Addr, name string) bool {
	if len(list) == 0 && name == "" {
		return machine.Interfaces{}.Has(addr)
	}
	return slices.ContainsFunc(list, func(p node.Process) bool { return p.DeliversFrom(addr, name) })
}
