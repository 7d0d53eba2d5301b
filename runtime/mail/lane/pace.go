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
	profile Profile
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

func newPace(p Profile, connections int, now time.Time) pace {
	most := max(1, min(p.Connections, connections))
	return pace{profile: p, most: most, window: min(max(1, p.Start), most), rate: newBucket(p.Rate, now)}
}

// share uses one of among equal shares of the profile's limits.
func (p *pace) share(among, connections int, now time.Time) {
	p.most = max(1, min(p.profile.Connections/among, connections))
	p.window = min(p.window, p.most)
	p.rate.share(p.profile.Rate/float64(among), now)
}

func (p *pace) paused(now time.Time) bool { return now.Before(p.pausedUntil) }

// limit returns the current limit of connections.
func (p *pace) limit() int {
	if p.probing {
		return 1
	}
	return p.window
}

// delivered widens the window: by one for every two deliveries until it was too wide for the first time,
// slowly afterwards.
func (p *pace) delivered(now time.Time) {
	p.answered()
	p.throttles = 0
	p.rate.delivered(now)
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

// answered records that the server responds.
func (p *pace) answered() {
	p.failures, p.pauses, p.probing = 0, 0, false
}

// throttled halves window and rate and pauses briefly. Connections from before the last time are ignored.
func (p *pace) throttled(now, entered time.Time, reason string) {
	p.answered()
	if !entered.After(p.setback) && !p.setback.IsZero() {
		return
	}
	p.halve(now)
	p.rate.halve(now)
	p.pause(now, min(firstThrottle<<min(p.throttles, 10), longestThrottle), reason)
	p.throttles++
}

func (p *pace) halve(now time.Time) {
	p.window = max(1, p.window/2)
	p.credit = 0
	p.setback = now
}

// unreachable narrows the window, and pauses if the server seems to be down. Connections from before the
// pause are ignored.
func (p *pace) unreachable(now, entered time.Time, reason string) {
	if p.paused(now) && !p.probing {
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
	p.pause(now, min(firstPause<<min(p.pauses, 10), longestPause), reason)
	p.pauses++
	p.probing = true
}

func (p *pace) pause(now time.Time, d time.Duration, reason string) {
	p.pausedUntil, p.reason = now.Add(d), reason
}
