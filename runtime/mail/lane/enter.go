package lane

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Pass is the permission for one connection of a lane.
type Pass struct {
	once    sync.Once
	r       *Registry
	l       *lane
	entered time.Time
	left    bool
}

// waiter is a queued Enter. It receives a pass, or nil if the lane was paused.
type waiter struct{ turn chan *Pass }

// Enter waits for a connection of the window, and for the rate, for at most two seconds. The error is that of the
// context, or ErrNoRoom if no attempt may start now.
func (r *Registry) Enter(ctx context.Context, way, destination string, set Set) (*Pass, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	pass, w, l, err := r.enterLane(way, destination, set)
	if w == nil {
		return pass, err
	}
	patient := time.NewTimer(patience)
	defer patient.Stop()
	select {
	case pass = <-w.turn:
	case <-patient.C:
	case <-ctx.Done():
	}
	if pass != nil {
		return pass, nil
	}
	r.mu.Lock()
	defer r.unlockAndNotify()
	return r.giveUp(ctx, l, w)
}

// enterLane takes a pass, or queues for one.
func (r *Registry) enterLane(way, destination string, set Set) (*Pass, *waiter, *lane, error) {
	r.mu.Lock()
	defer r.unlockAndNotify()
	now := time.Now()
	l := r.arriveAt(way, destination, set, now)
	if l.pace.isPaused(now) {
		l.refused = true
		r.scheduleCheck(l, now)
		return nil, nil, nil, fmt.Errorf("%w: paused: %s", ErrNoRoom, l.pace.reason)
	}
	if len(l.waiters) == 0 {
		if pass := r.takePass(l, now); pass != nil {
			return pass, nil, nil, nil
		}
	}
	w := &waiter{turn: make(chan *Pass, 1)}
	l.waiters = append(l.waiters, w)
	r.waiting[l] = struct{}{}
	r.scheduleCheck(l, now)
	return nil, w, l, nil
}

// giveUp leaves the queue, unless a pass arrived at the last moment.
func (r *Registry) giveUp(ctx context.Context, l *lane, w *waiter) (*Pass, error) {
	select {
	case pass := <-w.turn:
		if pass != nil {
			return pass, nil
		}
	default:
	}
	if i := slices.Index(l.waiters, w); i >= 0 {
		l.waiters = slices.Delete(l.waiters, i, i+1)
	}
	if len(l.waiters) == 0 {
		delete(r.waiting, l)
	}
	now := time.Now()
	l.used = now
	defer r.notifyRoom(l, now)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if l.pace.isPaused(now) {
		l.refused = true
		return nil, fmt.Errorf("%w: paused: %s", ErrNoRoom, l.pace.reason)
	}
	if l.active >= l.pace.connectionLimit() {
		l.refused, l.stuck = true, true
		return nil, fmt.Errorf("%w: all %d connections are in use", ErrNoRoom, l.pace.connectionLimit())
	}
	if l.pace.rate.timeToNext(now) > 0 {
		l.refused = true
		return nil, fmt.Errorf("%w: %.0f messages per minute", ErrNoRoom, l.pace.rate.rate)
	}
	if r.active >= r.cfg.Connections {
		r.full = true
	} else {
		r.newCrowded = true
	}
	return nil, fmt.Errorf("%w: too many connections to other destinations", ErrNoRoom)
}

// arriveAt returns the lane of a set, and remembers that the destination leads there.
func (r *Registry) arriveAt(way, destination string, set Set, now time.Time) *lane {
	k, known := r.locateLane(way, destination) // remembered routes expire after an hour
	if known != nil && (known.Own || known.Name == set.Name) {
		return r.laneOf(k, known, now)
	}
	home := key{way: way, name: set.Name}
	if l := r.lanes[home]; l != nil {
		known = l.set // one copy for all destinations
	} else {
		known = &set
	}
	l := r.laneOf(home, known, now)
	destination = canonicalHost(destination)
	r.routes.Set(route{way, destination}, known)
	if provisional := r.lanes[key{way: way, name: destination, provisional: true}]; provisional != nil {
		r.setProven(provisional, l.proven)
		if provisional.refused { // callers that it refused now wait for this lane
			provisional.refused, l.refused = false, true
		}
		r.notifyRoom(l, now)
	}
	return l
}

// takePass returns a pass if the window, the rate and the total allow one.
func (r *Registry) takePass(l *lane, now time.Time) *Pass {
	if l.pace.isPaused(now) || l.active >= l.pace.connectionLimit() || r.active >= r.cfg.Connections ||
		!l.proven && r.newActive >= r.unprovenLimit() || !l.pace.rate.takeToken(now) {
		return nil
	}
	r.countUse(l, 1, 0)
	return &Pass{r: r, l: l, entered: now}
}

// grantWaiters admits the first waiters of a lane.
func (r *Registry) grantWaiters(l *lane, now time.Time) {
	for len(l.waiters) > 0 {
		pass := r.takePass(l, now)
		if pass == nil && !l.pace.isPaused(now) {
			break
		}
		l.waiters[0].turn <- pass
		l.waiters = slices.Delete(l.waiters, 0, 1)
	}
	if len(l.waiters) == 0 {
		delete(r.waiting, l)
	}
}

// Leave ends the pass with its result. Further calls have no effect.
func (p *Pass) Leave(f Feedback) {
	p.once.Do(func() {
		p.r.mu.Lock()
		defer p.r.unlockAndNotify()
		p.r.leaveLane(p, f, time.Now())
	})
}

func (r *Registry) leaveLane(p *Pass, f Feedback, now time.Time) {
	l := p.l
	p.left = true
	r.countUse(l, -1, 0)
	l.used, l.stuck = now, false
	switch {
	case f.Delivered:
		l.delivered++
		l.pace.recordDelivery(now)
		r.setProven(l, true)
	case f.Refused:
		l.refusals++
		l.pace.recordAnswer()
	case f.Throttled:
		l.throttled++
		l.pace.recordThrottle(now, p.entered, f.Reason)
	case f.Unreachable:
		l.unreachable++
		l.pace.recordUnreachable(now, p.entered, f.Reason)
		if l.pace.probing {
			r.setProven(l, false)
		}
	}
	r.notifyRoom(l, now)
}

// Window returns how many connections may be kept open, used or not.
func (p *Pass) Window() int {
	p.r.mu.Lock()
	defer p.r.unlockAndNotify()
	if p.l.pace.isPaused(time.Now()) {
		return 0
	}
	return p.l.pace.connectionLimit()
}

// IdleLimit returns how many unused connections are allowed in addition to those that are, or are about to be,
// in use.
func (p *Pass) IdleLimit() int {
	p.r.mu.Lock()
	defer p.r.unlockAndNotify()
	if p.l.pace.isPaused(time.Now()) {
		return 0
	}
	others := p.l.active
	if !p.left {
		others--
	}
	return max(0, p.l.pace.connectionLimit()-others)
}

// Messages returns how many messages may be sent over one connection.
func (p *Pass) Messages() int { return p.l.pace.profile.Messages }

// Age returns the maximum age of a connection.
func (p *Pass) Age() time.Duration { return p.l.pace.profile.Age }
