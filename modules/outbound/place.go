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

// Nodes knows this process and the others, and which addresses this one can leave from.
type Nodes interface {
	Self() node.Process
	Others() []node.Process
	Has(addr netip.Addr) bool
	RecordTrials(addresses map[netip.Addr]bool)
}

var _ Nodes = (*node.Node)(nil)

// Routing says who takes what waits for a way.
type Routing int

const (
	// Open is one that this process may take: it has the way, or there is no such way any more.
	Open Routing = iota
	// Orphaned is one whose way nobody has, and this process may choose another for what waits there.
	Orphaned
	// OnOtherNode is one whose way another process has, or had a short time ago.
	OnOtherNode
	// Unroutable is one whose way nobody has had for long, without another: an account leaves from
	// its own addresses alone.
	Unroutable
)

// reach is how near an address is, the nearest first.
type reach int

const (
	here   reach = iota
	away         // another process has it
	absent       // nobody has, since a short time
	gone         // nobody has had it for Config.GoneAfter
)

// tiers are the outlets of a pool, by how near they are.
type tiers [gone + 1][]*outlet

// Place tells who takes what waits for the way of a label.
func (w *Ways) Place(label string) Routing {
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

// locateSources finds out how near the sources are and how many processes share them, and tells the node which of them connections
// can leave from.
func (r *reader) locateSources(ctx context.Context, into *snapshot) {
	if r.nodes == nil {
		return // everything is here
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
		case slices.ContainsFunc(others, func(p node.Process) bool { return p.Alive && p.DeliversFrom(src.addr, src.node) }):
			src.reach, last = away, now
		case now.Sub(last) < r.goneAfter:
			src.reach = absent
		default:
			src.reach = gone
			if !r.isGone[src.id] && !src.paused {
				r.log.WarnContext(ctx, "no process has a source address: mail leaves by others, and that of a dedicated address waits", telemetry.KeyAddress, src.addr, "pool", src.pool, "node", src.node)
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

// lastSeen is when a process last had the address, as far as the rows tell; else now.
func (src source) lastSeen(others []node.Process, now time.Time) time.Time {
	last, found := now, false
	for _, p := range others {
		if at := now.Add(-p.Silent); p.DeliversFrom(src.addr, src.node) && (!found || at.After(last)) {
			last, found = at, true
		}
	}
	return last
}

// byReach gives the outlets by how byReach they are.
func byReach(all []*outlet) (by tiers) {
	for _, o := range all {
		by[o.reach] = append(by[o.reach], o)
	}
	return by
}

// Among is how many processes share what a mailbox provider allows the way of a label: those
// that live, deliver, and leave from the same address. It is at least 1.
func (w *Ways) Among(label string) int {
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

// countSharing counts this process and the others that deliver behind the same public address, and
// are counted by a test of the caller's.
func countSharing(self node.Process, others []node.Process, too func(node.Process) bool) int {
	n := 1
	for _, p := range others {
		if p.Alive && p.Is(node.Delivers) && p.Egress == self.Egress && too(p) {
			n++
		}
	}
	return n
}

// hasAddress tells whether a process that lives can deliver from an address: the one of a name, or
// any; where none runs, whether this machine hasAddress it.
func hasAddress(list []node.Process, addr netip.Addr, name string) bool {
	if len(list) == 0 && name == "" {
		return machine.Interfaces{}.Has(addr)
	}
	return slices.ContainsFunc(list, func(p node.Process) bool { return p.DeliversFrom(addr, name) })
}
