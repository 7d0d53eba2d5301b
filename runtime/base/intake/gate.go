package intake

import (
	"errors"
	"net/netip"
	"sync"
	"time"
)

// The errors of a gate.
var (
	ErrCrowded = errors.New("too many connections")
	ErrTooMany = errors.New("too many connections from this address")
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
	places  map[*Place]struct{}
	leaving int // places of connections that were ended but have not left yet
	more    int // concurrent requests beyond the first of each connection
	count   map[netip.Prefix]int
}

// NewGate returns a gate with most places, of which one client (an IPv4 address, a /64) has at most each; 0
// means no limit.
func NewGate(most, each int) *Gate {
	return &Gate{most: most, each: each, places: map[*Place]struct{}{}, count: map[netip.Prefix]int{}}
}

// Place is one connection.
type Place struct {
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

// Enter admits a connection, or returns ErrCrowded or ErrTooMany. end ends the connection when another
// takes its place; it must not block, and is called once at most. With a zero address, call From later.
func (g *Gate) Enter(from netip.Addr, end func()) (*Place, error) {
	return g.enter(from, &Place{counted: !own(from)}, end)
}

// EnterPeer admits the connection of a peer. A shared peer forwards the connections or requests of others,
// as a proxy does: its network has no share, but its silent connections have one. Every other peer has the
// share of its network, also on this machine. Errors and end are those of Enter.
func (g *Gate) EnterPeer(from netip.Addr, shared bool, end func()) (*Place, error) {
	return g.enter(from, &Place{counted: !shared, shared: shared}, end)
}

func (g *Gate) enter(from netip.Addr, p *Place, end func()) (*Place, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.gate, p.end, p.since = g, end, time.Now()
	if !from.IsValid() {
		p.counted = false
		if len(g.places)-g.leaving >= g.most+proxiedRoom {
			return nil, ErrCrowded
		}
		g.places[p] = struct{}{}
		return p, nil
	}
	if err := g.admit(p, from); err != nil {
		return nil, err
	}
	g.places[p] = struct{}{}
	return p, nil
}

// From sets the origin of a connection that was admitted without one. After an error the connection must
// leave.
func (p *Place) From(a netip.Addr) error {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, in := g.places[p]; !in || p.known {
		return nil
	}
	delete(g.places, p) // a connection must not displace itself
	defer func() { g.places[p] = struct{}{} }()
	p.counted = !own(a)
	return g.admit(p, a)
}

// admit decides about a newcomer, and makes room for it.
func (g *Gate) admit(p *Place, from netip.Addr) error {
	p.levels = Neighbourhoods(from)
	if g.each > 0 && g.count[p.levels[0]] >= g.each {
		return ErrTooMany
	}
	if g.all() >= g.most/2 && p.shared && g.silentOf(p.levels[0]) >= g.most/networkPart {
		g.displace(g.find(func(o *Place) bool { return o.silentFrom(p.levels[0]) }))
	}
	if g.all() >= g.most/2 && p.counted {
		for level, most := range map[int]int{1: g.most / networkPart, 2: g.most / widerPart} {
			if g.count[p.levels[level]] < most {
				continue
			}
			rival := g.find(func(o *Place) bool { return o.counted && o.levels[level] == p.levels[level] })
			if rival == nil {
				return ErrTooMany
			}
			g.displace(rival)
		}
	}
	if g.all() >= g.most {
		rival := g.rival(p)
		if rival == nil {
			return ErrCrowded
		}
		g.displace(rival)
	}
	p.known = true
	g.add(p, 1)
	return nil
}

// Begin admits a request on the connection and returns a function that ends it, which must be called once.
// A connection may have several requests at a time (HTTP/2 streams): each beyond the first counts as a
// connection. client is the address that the request comes from; if it differs from that of the connection,
// the request counts for the client's network. The errors are those of Enter, and end nothing.
func (p *Place) Begin(client netip.Addr) (end func(), err error) {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	more := p.requests > 0
	if more && g.all() >= g.most {
		return nil, ErrCrowded
	}
	var levels [3]netip.Prefix
	switch {
	case client.IsValid() && Neighbourhoods(client)[0] != p.levels[0] && !own(client):
		levels = Neighbourhoods(client)
	case more && p.counted:
		levels = p.levels
	}
	charged := levels != [3]netip.Prefix{}
	if charged {
		if g.all() >= g.most/2 && (g.count[levels[1]] >= g.most/networkPart || g.count[levels[2]] >= g.most/widerPart) {
			return nil, ErrTooMany
		}
		g.charge(levels, 1)
	}
	p.requests++
	if more {
		g.more++
	}
	return func() { p.endRequest(charged, levels) }, nil
}

func (p *Place) endRequest(charged bool, levels [3]netip.Prefix) {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if charged {
		g.charge(levels, -1)
	}
	if p.requests--; p.requests > 0 {
		g.more--
	}
	p.spoken, p.since = true, time.Now()
}

// charge adds n connections, or requests that count as such, to the networks of their origin.
func (g *Gate) charge(levels [3]netip.Prefix, n int) {
	for _, l := range levels {
		if g.count[l] += n; g.count[l] <= 0 {
			delete(g.count, l)
		}
	}
}

// silentFrom reports whether the connection is a silent one of a shared peer.
func (p *Place) silentFrom(peer netip.Prefix) bool {
	return p.known && p.shared && p.interruptible() && !p.spoken && p.levels[0] == peer
}

func (p *Place) interruptible() bool { return !p.busy && p.requests == 0 && !p.ended }

func (g *Gate) silentOf(peer netip.Prefix) (n int) {
	for o := range g.places {
		if o.silentFrom(peer) {
			n++
		}
	}
	return n
}

func (g *Gate) all() int { return len(g.places) - g.leaving + g.more }

func (g *Gate) add(p *Place, n int) {
	if p.counted {
		g.charge(p.levels, n)
		return
	}
	if g.count[p.levels[0]] += n; g.count[p.levels[0]] <= 0 {
		delete(g.count, p.levels[0])
	}
}

// rival returns the connection that must yield its place to a newcomer: a silent one in a share that is
// larger than the newcomer's, or one that has been silent for long; then idle connections by the same
// rules.
func (g *Gate) rival(p *Place) *Place {
	own := 0
	if p.counted {
		own = g.count[p.levels[2]]
	}
	for _, spoken := range []bool{false, true} {
		patience := silentFor
		if spoken {
			patience = waitingFor
		}
		share := g.shares(spoken)
		most := own + 1
		for o := range g.places {
			most = max(most, share(o))
		}
		if most > own+1 {
			return g.find(func(o *Place) bool { return share(o) == most })
		}
		long := g.find(func(o *Place) bool { return o.spoken == spoken && time.Since(o.since) > patience })
		if long != nil {
			return long
		}
	}
	return nil
}

// shares returns a function that returns the size of a connection's share, or 0 for one that cannot be
// ended now. The share of a shared peer is its silent connections.
func (g *Gate) shares(spoken bool) func(*Place) int {
	silent := map[netip.Prefix]int{}
	for o := range g.places {
		if o.silentFrom(o.levels[0]) {
			silent[o.levels[0]]++
		}
	}
	return func(o *Place) int {
		switch {
		case o.spoken != spoken || !o.interruptible():
			return 0
		case o.counted:
			return g.count[o.levels[2]]
		}
		return silent[o.levels[0]]
	}
}

// find returns the place, among those that match, that is yielded first: the oldest silent one, else the
// one that has been idle longest.
func (g *Gate) find(asked func(*Place) bool) (found *Place) {
	for o := range g.places {
		switch {
		case !o.interruptible() || !asked(o):
		case found == nil, found.spoken && !o.spoken, found.spoken == o.spoken && o.since.Before(found.since):
			found = o
		}
	}
	return found
}

// displace ends a connection. Its place counts as free.
func (g *Gate) displace(p *Place) {
	p.ended = true
	g.leaving++
	if p.known {
		g.add(p, -1)
	}
	p.end()
}

// Busy marks the connection as doing something that must not be interrupted.
func (p *Place) Busy() { p.set(true, p.spoken) }

// Waits marks the connection as waiting for a command or a request. spoken says whether the client has
// identified itself; if not, it counts as silent since it connected.
func (p *Place) Waits(spoken bool) { p.set(false, spoken) }

func (p *Place) set(busy, spoken bool) {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	p.busy = busy
	if p.spoken = p.spoken || spoken; p.spoken && !busy {
		p.since = time.Now()
	}
}

// Leave releases the place. It may be called more than once.
func (p *Place) Leave() {
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
		g.add(p, -1)
	}
}
