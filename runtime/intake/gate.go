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
	count   map[netip.Prefix]int
}

// NewGate makes a gate of so many places, of which one client (an IPv4 address, a /64)
// has at most each; 0 is no bound.
func NewGate(most, each int) *Gate {
	return &Gate{most: most, each: each, places: map[*Place]struct{}{}, count: map[netip.Prefix]int{}}
}

// Place is one connection.
type Place struct {
	gate    *Gate
	end     func()
	levels  [3]netip.Prefix
	known   bool // where it comes from
	counted bool // by network, too
	spoken  bool
	busy    bool
	ended   bool
	since   time.Time // silent or waiting
}

// Enter lets a connection in, or gives ErrCrowded or ErrTooMany. end ends it when another
// gets its place; it must not wait, and is called once at most. An address that is zero
// will be told later, with From.
func (g *Gate) Enter(from netip.Addr, end func()) (*Place, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := &Place{gate: g, end: end, since: time.Now()}
	if !from.IsValid() {
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
	return g.admit(p, a)
}

// admit judges a newcomer, and makes room for it.
func (g *Gate) admit(p *Place, from netip.Addr) error {
	p.levels, p.counted = Neighbourhoods(from), !own(from)
	if g.each > 0 && g.count[p.levels[0]] >= g.each {
		return ErrTooMany
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

func (g *Gate) all() int { return len(g.places) - g.leaving }

func (g *Gate) add(p *Place, n int) {
	for i, l := range p.levels {
		if i > 0 && !p.counted {
			break
		}
		if g.count[l] += n; g.count[l] <= 0 {
			delete(g.count, l)
		}
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
		most := own + 1
		for o := range g.places {
			if o.counted && o.spoken == spoken && !o.busy && !o.ended {
				most = max(most, g.count[o.levels[2]])
			}
		}
		if most > own+1 {
			return g.find(func(o *Place) bool { return o.counted && o.spoken == spoken && g.count[o.levels[2]] == most })
		}
		long := g.find(func(o *Place) bool { return o.spoken == spoken && time.Since(o.since) > patience })
		if long != nil {
			return long
		}
	}
	return nil
}

// find gives the place among those asked for that can be given to another: of those who
// have said nothing the oldest, else the one that waits longest.
func (g *Gate) find(asked func(*Place) bool) (found *Place) {
	for o := range g.places {
		switch {
		case o.busy || o.ended || !asked(o):
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
