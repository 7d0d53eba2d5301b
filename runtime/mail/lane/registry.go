package lane

import (
	"strings"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/cache"
)

// Registry is the set of all lanes of a process.
type Registry struct {
	cfg    Config
	routes *cache.Cache[route, *Set] // known lanes of destinations

	mu    sync.Mutex
	lanes map[key]*lane
	swept time.Time

	active, reserved   int  // of all lanes
	newActive, newHeld int  // the same for unproven lanes
	crowded            bool // a reservation was refused because of the total
	full               bool // a connection was refused because of the total
	newCrowded         bool // a reservation was refused because of the total of unproven lanes
	waiting            map[*lane]struct{}
	roomy              bool // call OnRoom after unlocking
	onRoom             []func()
}

// route is a destination by a way.
type route struct{ way, destination string }

// key identifies a lane.
type key struct {
	way, name   string
	provisional bool
}

// lane is the state of one lane, guarded by the registry's lock.
type lane struct {
	key  key
	set  *Set // nil: provisional
	pace pace

	active, reserved int
	waiters          []*waiter
	proven           bool // has had a delivery since it was new or dead
	refused          bool // a caller was refused
	outside          bool // a caller was refused because it is unproven
	stuck            bool // an Enter timed out: reserve no more ahead until a connection leaves
	used             time.Time
	timer            *time.Timer
	among            int       // processes that share the profile's limits
	divided          time.Time // when that was last queried

	delivered, refusals, throttled, unreachable uint64
}

// New returns a registry. It has no goroutine and needs no Close.
func New(cfg Config) *Registry {
	if cfg.Connections <= 0 {
		cfg.Connections = 256
	}
	if cfg.Profiles == nil {
		cfg.Profiles = BuiltIn()
	}
	return &Registry{
		cfg: cfg, lanes: map[key]*lane{}, waiting: map[*lane]struct{}{}, swept: time.Now(),
		routes: cache.New(cache.Config[route, *Set]{Max: maxRoutes, TTL: remembered}),
	}
}

// OnRoom adds a function to call when a lane that had refused has room again. It must not block. It is called
// without locks held, possibly once for many lanes.
func (r *Registry) OnRoom(tell func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.onRoom = append(r.onRoom, tell)
}

// unlockAndNotify releases the lock and runs the callbacks that became due.
func (r *Registry) unlockAndNotify() {
	roomy := r.roomy
	r.roomy = false
	tell := r.onRoom
	r.mu.Unlock()
	if !roomy {
		return
	}
	for _, f := range tell {
		f()
	}
}

// locateLane returns the lane that a destination leads to, as far as known.
func (r *Registry) locateLane(way, destination string) (key, *Set) {
	destination = canonicalHost(destination)
	if address, ok := strings.CutPrefix(way, smarthostPrefix); ok {
		return key{way: way, name: address}, &Set{Name: address, Hosts: []string{address}, Own: true}
	}
	if s := r.cfg.Smarthost; s != nil {
		return key{way: way, name: s.Name}, s
	}
	if set, ok := r.routes.GetIfPresent(route{way, destination}); ok {
		return key{way: way, name: set.Name}, set
	}
	return key{way: way, name: destination, provisional: true}, nil
}

// laneOf returns the lane of a key, creating it if necessary.
func (r *Registry) laneOf(k key, set *Set, now time.Time) *lane {
	r.removeUnused(now)
	l := r.lanes[k]
	if l == nil {
		l = &lane{key: k, set: set, among: 1}
		profile := r.cfg.Profiles.standard
		switch {
		case set != nil && set.Own:
			profile = ownProfile(r.cfg.Connections)
			l.proven = true
		case set != nil:
			profile = r.cfg.Profiles.Find(set.Hosts)
		}
		l.pace = newPace(profile, r.cfg.Connections, now)
		r.lanes[k] = l
	}
	l.used = now
	r.divideShare(l, now)
	return l
}

// askAmong is how long the number of processes that share a lane's limits is cached.
const askAmong = time.Second

// divideShare updates the share of the provider's limits.
func (r *Registry) divideShare(l *lane, now time.Time) {
	if r.cfg.Among == nil || l.set != nil && l.set.Own || now.Sub(l.divided) < askAmong {
		return
	}
	l.divided = now
	if among := max(1, r.cfg.Among(l.key.way)); among != l.among {
		l.among = among
		l.pace.setShare(among, r.cfg.Connections, now)
	}
}

// removeUnused forgets unused lanes, because there could be one for every domain in the world.
func (r *Registry) removeUnused(now time.Time) {
	if now.Sub(r.swept) < time.Minute {
		return
	}
	r.swept = now
	for k, l := range r.lanes {
		if l.active == 0 && l.reserved == 0 && len(l.waiters) == 0 &&
			now.Sub(l.used) >= unusedAfter && now.Sub(l.pace.pausedUntil) >= unusedAfter {
			if l.timer != nil {
				l.timer.Stop()
			}
			delete(r.lanes, k)
		}
	}
}

// unprovenLimit returns how many connections unproven lanes may use together.
func (r *Registry) unprovenLimit() int { return max(1, r.cfg.Connections/2) }

// newRoom returns the room that unproven lanes have left.
func (r *Registry) newRoom() int { return r.unprovenLimit() - max(r.newHeld, r.newActive) }

// countUse changes the usage of a lane.
func (r *Registry) countUse(l *lane, active, reserved int) {
	l.active += active
	l.reserved += reserved
	r.active += active
	r.reserved += reserved
	if !l.proven {
		r.newActive += active
		r.newHeld += reserved
	}
}

func (r *Registry) setProven(l *lane, proven bool) {
	if l.proven == proven {
		return
	}
	active, reserved := l.active, l.reserved
	r.countUse(l, -active, -reserved)
	l.proven = proven
	r.countUse(l, active, reserved)
	if proven && l.outside {
		l.outside, r.roomy = false, true
	}
}

// withAhead returns how many reservations are allowed for a number of connections: half as many more, so
// that no connection idles while the next claim is on its way. They are blocked for the length of a lease
// if the process dies.
func withAhead(connections int) int { return connections + (connections+1)/2 }

// ownRoom returns the room of a lane by its own limits.
func (l *lane) ownRoom(now time.Time) int {
	if l.pace.isPaused(now) {
		return 0
	}
	most := withAhead(l.pace.connectionLimit())
	if l.pace.probing || l.stuck {
		most = l.pace.connectionLimit()
	}
	n := most - max(l.reserved, l.active+len(l.waiters))
	return max(0, min(n, l.pace.rate.tokenRoom(now, max(0, l.reserved-l.active))))
}

// laneRoom returns how many more reservations are possible, and records a refusal.
func (r *Registry) laneRoom(l *lane, now time.Time) int {
	n := l.ownRoom(now)
	if n == 0 {
		l.refused = true
		r.scheduleCheck(l, now)
		return 0
	}
	if !l.proven {
		if n = min(n, r.newRoom()); n <= 0 {
			r.newCrowded, l.outside = true, true
			return 0
		}
	}
	if n = min(n, withAhead(r.cfg.Connections)-r.reserved); n <= 0 {
		r.crowded = true
		return 0
	}
	return n
}

// notifyRoom must be called when a lane may have more room than before.
func (r *Registry) notifyRoom(l *lane, now time.Time) {
	r.grantWaiters(l, now)
	if len(r.waiting) > 0 && r.active < r.cfg.Connections { // the total may have been the obstacle
		for other := range r.waiting {
			if r.active >= r.cfg.Connections {
				break
			}
			r.grantWaiters(other, now)
		}
	}
	if l.refused && l.ownRoom(now) > 0 {
		l.refused, r.roomy = false, true
	}
	if r.crowded && r.reserved < withAhead(r.cfg.Connections) {
		r.crowded, r.roomy = false, true
	}
	if r.full && r.active < r.cfg.Connections {
		r.full, r.roomy = false, true
	}
	if r.newCrowded && r.newRoom() > 0 {
		r.newCrowded, r.roomy = false, true
	}
	r.scheduleCheck(l, now)
}

// scheduleCheck schedules a check of a lane with waiters for when time alone makes room: a pause ends, the rate
// allows a message.
func (r *Registry) scheduleCheck(l *lane, now time.Time) {
	if !l.refused && len(l.waiters) == 0 {
		return
	}
	wait := l.pace.rate.nextRoom(now)
	if next := l.pace.rate.timeToNext(now); len(l.waiters) > 0 && next > 0 && (wait == 0 || next < wait) {
		wait = next
	}
	if l.pace.isPaused(now) {
		wait = l.pace.pausedUntil.Sub(now)
	}
	if wait <= 0 {
		return
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	l.timer = time.AfterFunc(wait, func() {
		r.mu.Lock()
		defer r.unlockAndNotify()
		r.notifyRoom(l, time.Now())
	})
}
