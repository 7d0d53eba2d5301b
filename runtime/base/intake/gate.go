package intake

import (
	"errors"
	"net/netip"
	"sync"
	"time"
)

// The errors of a gate.
var (
	ErrOverloaded  = errors.New("too many connections")
	ErrClientLimit = errors.New("too many connections from this address")
)

// The limits of a gate that is more than half full: the places that a network (/24, /56) and a wider
// network (/16, /48) may have. Below that, only clients are limited.
const (
	networkPart = 8
	widerPart   = 4
)

// How long a connection keeps its place when the gate is full: one that has sent nothing, and one that is
// idle between commands or requests.
const (
	silentFor  = 10 * time.Second
	waitingFor = 30 * time.Second
)

// proxiedRoom is the number of connections whose proxy has not announced the client address yet.
const proxiedRoom = 64

// Gate limits connections, in total and by origin. If it is full, a newcomer takes the place of a
// connection that has sent nothing, else of an idle one, in the largest share. It is safe for concurrent
// use.
type Gate struct {
	most, each int

	mu      sync.Mutex
	places  map[*Slot]struct{}
	leaving int // places of connections that were ended but have not left yet
	more    int // concurrent requests beyond the first of each connection
	count   map[netip.Prefix]int
}

// NewGate returns a gate with most places, of which one client (an IPv4 address, a /64) has at most each; 0
// means no limit.
func NewGate(most, each int) *Gate {
	return &Gate{most: most, each: each, places: map[*Slot]struct{}{}, count: map[netip.Prefix]int{}}
}

// Slot is one connection.
type Slot struct {
	gate     *Gate
	end      func()
	levels   [3]netip.Prefix
	known    bool // its origin is known
	counted  bool // counted by network, too
	shared   bool // its silent connections are limited, too
	spoken   bool
	busy     bool
	requests int // in progress
	ended    bool
	since    time.Time // since when it is silent or idle
}

// Enter admits a connection, or returns ErrOverloaded or ErrClientLimit. end ends the connection when another
// takes its place; it must not block, and is called at most once. With a zero address, call SetOrigin later.
func (g *Gate) Enter(from netip.Addr, end func()) (*Slot, error) {
	return g.enterPlace(from, &Slot{counted: !isLocal(from)}, end)
}

// EnterPeer admits the connection of a peer. A shared peer forwards the connections or requests of others,
// as a proxy does: its network has no share, but its silent connections have one. Every other peer has the
// share of its network, also on this machine. Errors and end are those of Enter.
func (g *Gate) EnterPeer(from netip.Addr, shared bool, end func()) (*Slot, error) {
	return g.enterPlace(from, &Slot{counted: !shared, shared: shared}, end)
}

func (g *Gate) enterPlace(from netip.Addr, p *Slot, end func()) (*Slot, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.gate, p.end, p.since = g, end, time.Now()
	if !from.IsValid() {
		p.counted = false
		if len(g.places)-g.leaving >= g.most+proxiedRoom {
			return nil, ErrOverloaded
		}
		g.places[p] = struct{}{}
		return p, nil
	}
	if err := g.admitPlace(p, from); err != nil {
		return nil, err
	}
	g.places[p] = struct{}{}
	return p, nil
}

// SetOrigin sets the origin of a connection that was admitted without one. After an error the connection must
// leave.
func (p *Slot) SetOrigin(a netip.Addr) error {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, in := g.places[p]; !in || p.known {
		return nil
	}
	delete(g.places, p) // a connection must not displace itself
	defer func() { g.places[p] = struct{}{} }()
	p.counted = !isLocal(a)
	return g.admitPlace(p, a)
}

// admitPlace decides about a newcomer, and makes room for it.
func (g *Gate) admitPlace(p *Slot, from netip.Addr) error {
	p.levels = ContainingPrefixes(from)
	if g.each > 0 && g.count[p.levels[0]] >= g.each {
		return ErrClientLimit
	}
	if g.countPlaces() >= g.most/2 && p.shared && g.silentOf(p.levels[0]) >= g.most/networkPart {
		g.displacePlace(g.findPlace(func(o *Slot) bool { return o.silentFrom(p.levels[0]) }))
	}
	if g.countPlaces() >= g.most/2 && p.counted {
		for level, most := range map[int]int{1: g.most / networkPart, 2: g.most / widerPart} {
			if g.count[p.levels[level]] < most {
				continue
			}
			rival := g.findPlace(func(o *Slot) bool { return o.counted && o.levels[level] == p.levels[level] })
			if rival == nil {
				return ErrClientLimit
			}
			g.displacePlace(rival)
		}
	}
	if g.countPlaces() >= g.most {
		rival := g.findRival(p)
		if rival == nil {
			return ErrOverloaded
		}
		g.displacePlace(rival)
	}
	p.known = true
	g.addConnections(p, 1)
	return nil
}

// BeginRequest admits a request on the connection and returns a function that ends it, which must be called once.
// A connection may have several requests at a time (HTTP/2 streams): each beyond the first counts as a
// connection. client is the address that the request comes from; if it differs from that of the connection,
// the request counts for the client's network. The errors are those of Enter, and end nothing.
func (p *Slot) BeginRequest(client netip.Addr) (end func(), err error) {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	more := p.requests > 0
	if more && g.countPlaces() >= g.most {
		return nil, ErrOverloaded
	}
	var levels [3]netip.Prefix
	switch {
	case client.IsValid() && ContainingPrefixes(client)[0] != p.levels[0] && !isLocal(client):
		levels = ContainingPrefixes(client)
	case more && p.counted:
		levels = p.levels
	}
	charged := levels != [3]netip.Prefix{}
	if charged {
		if g.countPlaces() >= g.most/2 &&
			(g.count[levels[1]] >= g.most/networkPart || g.count[levels[2]] >= g.most/widerPart) {
			return nil, ErrClientLimit
		}
		g.chargeNetworks(levels, 1)
	}
	p.requests++
	if more {
		g.more++
	}
	return func() { p.endRequest(charged, levels) }, nil
}

func (p *Slot) endRequest(charged bool, levels [3]netip.Prefix) {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if charged {
		g.chargeNetworks(levels, -1)
	}
	if p.requests--; p.requests > 0 {
		g.more--
	}
	p.spoken, p.since = true, time.Now()
}

// chargeNetworks adds n connections, or requests that count as such, to the networks of their origin.
func (g *Gate) chargeNetworks(levels [3]netip.Prefix, n int) {
	for _, l := range levels {
		if g.count[l] += n; g.count[l] <= 0 {
			delete(g.count, l)
		}
	}
}

// silentFrom reports whether the connection is a silent one of a shared peer.
func (p *Slot) silentFrom(peer netip.Prefix) bool {
	return p.known && p.shared && p.isInterruptible() && !p.spoken && p.levels[0] == peer
}

func (p *Slot) isInterruptible() bool { return !p.busy && p.requests == 0 && !p.ended }

func (g *Gate) silentOf(peer netip.Prefix) (n int) {
	for o := range g.places {
		if o.silentFrom(peer) {
			n++
		}
	}
	return n
}

func (g *Gate) countPlaces() int { return len(g.places) - g.leaving + g.more }

func (g *Gate) addConnections(p *Slot, n int) {
	if p.counted {
		g.chargeNetworks(p.levels, n)
		return
	}
	if g.count[p.levels[0]] += n; g.count[p.levels[0]] <= 0 {
		delete(g.count, p.levels[0])
	}
}

// findRival returns the connection that must yield its place to a newcomer: a silent one in a share that is
// larger than the newcomer's, or one that has been silent for long; then idle connections by the same
// rules.
func (g *Gate) findRival(p *Slot) *Slot {
	own := 0
	if p.counted {
		own = g.count[p.levels[2]]
	}
	for _, spoken := range []bool{false, true} {
		patience := silentFor
		if spoken {
			patience = waitingFor
		}
		share := g.shareSizes(spoken)
		most := own + 1
		for o := range g.places {
			most = max(most, share(o))
		}
		if most > own+1 {
			return g.findPlace(func(o *Slot) bool { return share(o) == most })
		}
		long := g.findPlace(func(o *Slot) bool { return o.spoken == spoken && time.Since(o.since) > patience })
		if long != nil {
			return long
		}
	}
	return nil
}

// shareSizes returns a function that returns the size of a connection's share, or 0 for one that cannot be
// ended now. The share of a shared peer is its silent connections.
func (g *Gate) shareSizes(spoken bool) func(*Slot) int {
	silent := map[netip.Prefix]int{}
	for o := range g.places {
		if o.silentFrom(o.levels[0]) {
			silent[o.levels[0]]++
		}
	}
	return func(o *Slot) int {
		switch {
		case o.spoken != spoken || !o.isInterruptible():
			return 0
		case o.counted:
			return g.count[o.levels[2]]
		}
		return silent[o.levels[0]]
	}
}

// findPlace returns the place, among those that match, that is yielded first: the oldest silent one, else the
// one that has been idle longest.
func (g *Gate) findPlace(asked func(*Slot) bool) (found *Slot) {
	for o := range g.places {
		switch {
		case !o.isInterruptible() || !asked(o):
		case found == nil, found.spoken && !o.spoken, found.spoken == o.spoken && o.since.Before(found.since):
			found = o
		}
	}
	return found
}

// displacePlace ends a connection. Its place counts as free.
func (g *Gate) displacePlace(p *Slot) {
	p.ended = true
	g.leaving++
	if p.known {
		g.addConnections(p, -1)
	}
	p.end()
}

// MarkBusy marks the connection as doing something that must not be interrupted.
func (p *Slot) MarkBusy() { p.setState(true, p.spoken) }

// MarkWaiting marks the connection as waiting for a command or a request. spoken says whether the client has
// identified itself; if not, it counts as silent since it connected.
func (p *Slot) MarkWaiting(spoken bool) { p.setState(false, spoken) }

func (p *Slot) setState(busy, spoken bool) {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	p.busy = busy
	if p.spoken = p.spoken || spoken; p.spoken && !busy {
		p.since = time.Now()
	}
}

// Leave releases the place. It may be called more than once.
func (p *Slot) Leave() {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, in := g.places[p]; !in {
		return
	}
	delete(g.places, p)
	switch {
	case p.ended:
		g.leaving--
	case p.known:
		g.addConnections(p, -1)
	}
}
