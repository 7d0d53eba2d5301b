package lane

import "time"

const (
	failuresToPause = 3 // consecutive connections
	firstPause      = 30 * time.Second
	longestPause    = 10 * time.Minute
	firstThrottle   = 5 * time.Second
	longestThrottle = 2 * time.Minute
)

// pace controls the speed of a lane. It only decides: time and events come from outside.
type pace struct {
	profile ProviderLimits
	most    int // the maximum window
	window  int
	rate    bucket

	credit  int       // deliveries since the window last grew
	setback time.Time // when the window was last halved; zero: it is still finding its size

	failures    int // consecutive connections without a greeting
	pauses      int // consecutive pauses because of failures
	throttles   int // consecutive pauses because the server throttled
	probing     bool
	pausedUntil time.Time
	reason      string
}

func newPace(p ProviderLimits, connections int, now time.Time) pace {
	most := max(1, min(p.Connections, connections))
	return pace{profile: p, most: most, window: min(max(1, p.Start), most), rate: newBucket(p.Rate, now)}
}

// setShare uses one of among equal shares of the profile's limits.
func (p *pace) setShare(among, connections int, now time.Time) {
	p.most = max(1, min(p.profile.Connections/among, connections))
	p.window = min(p.window, p.most)
	p.rate.setShare(p.profile.Rate/float64(among), now)
}

func (p *pace) isPaused(now time.Time) bool { return now.Before(p.pausedUntil) }

// connectionLimit returns the current limit of connections.
func (p *pace) connectionLimit() int {
	if p.probing {
		return 1
	}
	return p.window
}

// recordDelivery widens the window: by one for every two deliveries until it was too wide for the first time,
// slowly afterwards.
func (p *pace) recordDelivery(now time.Time) {
	p.recordAnswer()
	p.throttles = 0
	p.rate.recordDelivery(now)
	need := 2
	if !p.setback.IsZero() {
		need = max(10, 2*p.window)
	}
	p.credit++
	if p.credit >= need && p.window < p.most {
		p.window++
		p.credit = 0
	}
	p.credit = min(p.credit, need)
}

// recordAnswer records that the server responds.
func (p *pace) recordAnswer() {
	p.failures, p.pauses, p.probing = 0, 0, false
}

// recordThrottle halves window and rate and pauses briefly. Connections from before the last time are ignored.
func (p *pace) recordThrottle(now, entered time.Time, reason string) {
	p.recordAnswer()
	if !entered.After(p.setback) && !p.setback.IsZero() {
		return
	}
	p.halveWindow(now)
	p.rate.halveRate(now)
	p.pauseFor(now, min(firstThrottle<<min(p.throttles, 10), longestThrottle), reason)
	p.throttles++
}

func (p *pace) halveWindow(now time.Time) {
	p.window = max(1, p.window/2)
	p.credit = 0
	p.setback = now
}

// recordUnreachable narrows the window, and pauses if the server seems to be down. Connections from before the
// pause are ignored.
func (p *pace) recordUnreachable(now, entered time.Time, reason string) {
	if p.isPaused(now) && !p.probing {
		return // a pause of a throttling server
	}
	p.window = max(1, p.window-1)
	p.credit = 0
	if p.setback.IsZero() {
		p.setback = now
	}
	p.failures++
	probeFailed := p.probing && !entered.Before(p.pausedUntil)
	if !probeFailed && (p.probing || p.failures < failuresToPause) {
		return
	}
	p.pauseFor(now, min(firstPause<<min(p.pauses, 10), longestPause), reason)
	p.pauses++
	p.probing = true
}

func (p *pace) pauseFor(now time.Time, d time.Duration, reason string) {
	p.pausedUntil, p.reason = now.Add(d), reason
}
