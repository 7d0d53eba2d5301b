package intake

import (
	"errors"
	"net/netip"
	"sync"
	"time"
)

// Errors of a gate.
var (
	ErrCrowded = errors.New("too many connections")
	ErrTooMany = errors.New("too many connections from this address")
)

// The parts of a gate that is more than half full: what a network (/24, /56) and what a
// wider one (/16, /48) may have of it. While it is emptier nobody is bounded but a client.
const (
	networkPart = 8
	widerPart   = 4
)

// How long a connection may keep its place when all are taken: one that has said nothing,
// and one that waits between commands or requests.
const (
	silentFor  = 10 * time.Second
	waitingFor = 30 * time.Second
)

// proxiedRoom is for connections of which a proxy has not yet told where they come from.
const proxiedRoom = 64

// Gate counts connections, in all and by where they come from. When its places are taken
// a newcomer gets one all the same: the place of one who has said nothing, else of one who
// waits, in the share that has most. It is safe for concurrent use.
type Gate struct {
	most, each int

	mu      sync.Mutex
	places  map[*Place]struct{}
	leaving int // of places: ended, and not yet gone
	more    int // requests in progress beyond the first of each connection
	count   map[netip.Prefix]int
}

// NewGate makes a gate of so many places, of which one client (an IPv4 address, a /64)
// has at most each; 0 is no bound.
func NewGate(most, each int) *Gate {
	return &Gate{most: most, each: each, places: map[*Place]struct{}{}, count: map[netip.Prefix]int{}}
}

// Place is one connection.
type Place struct {
	gate     *Gate
	end      func()
	levels   [3]netip.Prefix
	known    bool // where it comes from
	counted  bool // by network, too
	shared   bool // its silent connections are bounded, too
	spoken   bool
	busy     bool
	requests int // in progress
	ended    bool
	since    time.Time // silent or waiting
}

// Enter lets a connection in, or gives ErrCrowded or ErrTooMany. end ends it when another
// gets its place; it must not wait, and is called once at most. An address that is zero
// will be told later, with From.
func (g *Gate) Enter(from netip.Addr, end func()) (*Place, error) {
	return g.enter(from, &Place{counted: !own(from)}, end)
}

// EnterPeer admits the connection of a peer. A shared peer passes on the connections or requests of
// others, as a proxy does: its network has no share, but its silent connections have one. Every other
// peer has the share of its network, also on this machine. Errors and end are those of Enter.
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

// From tells where a connection comes from that was let in without. After an error it has
// to leave.
func (p *Place) From(a netip.Addr) error {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, in := g.places[p]; !in || p.known {
		return nil
	}
	delete(g.places, p) // it is no newcomer's rival
	defer func() { g.places[p] = struct{}{} }()
	p.counted = !own(a)
	return g.admit(p, a)
}

// admit judges a newcomer, and makes room for it.
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

// Begin admits a request on the connection, and returns what ends it; end must be called once. A
// connection may have several at a time (HTTP/2 streams): each beyond the first counts as a
// connection. client is the address that the request comes from; where it is not that of the
// connection itself, its network has the share of one. The errors are those of Enter, and end nothing.
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

// charge counts a connection, or a request that counts as one, for the networks that it comes from.
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

// rival finds who has to give its place to a newcomer: who has said nothing in a share
// that is larger than the newcomer's, or for long; then who waits, likewise.
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

// shares returns a function that says how large the share is to which a connection belongs; 0 for
// one that cannot be ended now. The share of a shared peer is its silent connections.
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

// find gives the place among those asked for that can be given to another: of those who
// have said nothing the oldest, else the one that waits longest.
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

// displace ends a connection. Its place counts as given back.
func (g *Gate) displace(p *Place) {
	p.ended = true
	g.leaving++
	if p.known {
		g.add(p, -1)
	}
	p.end()
}

// Busy says that the connection does something that is not interrupted.
func (p *Place) Busy() { p.set(true, p.spoken) }

// Waits says that the connection waits for a command or a request, and whether its client
// has said who it is: who has not counts as silent, since its beginning.
func (p *Place) Waits(spoken bool) { p.set(false, spoken) }

func (p *Place) set(busy, spoken bool) {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	p.busy = busy
	if p.spoken = p.spoken || spoken; p.spoken && !busy {
		p.since = time.Now()
	}
}

// Leave gives the place back. It may be called more than once.
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
