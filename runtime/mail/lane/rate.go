package lane

import (
	"math"
	"time"
)

const (
	deliveriesPerStep = 20        // that a halved rate needs for a step up
	rateSteps         = 10        // from nothing to the profile's rate
	burst             = 1.0 / 6.0 // minutes' worth of messages that may be sent in a burst
)

// bucket limits messages per minute. A bucket of rate 0 is unlimited.
type bucket struct {
	most, rate float64 // per minute: of the profile, and current
	tokens     float64
	filled     time.Time
	credit     int // deliveries since the rate last changed
}

func newBucket(perMinute float64, now time.Time) bucket {
	b := bucket{most: perMinute, rate: perMinute, filled: now}
	b.tokens = b.maxTokens()
	return b
}

func (b *bucket) maxTokens() float64 { return max(1, b.rate*burst) }

func (b *bucket) fillTokens(now time.Time) {
	if gone := now.Sub(b.filled); gone > 0 {
		b.tokens = min(b.maxTokens(), b.tokens+b.rate*gone.Minutes())
		b.filled = now
	}
}

// setShare sets another rate as the profile's, at least one message a minute. A halved rate keeps its ratio.
func (b *bucket) setShare(most float64, now time.Time) {
	if b.most == 0 {
		return
	}
	b.fillTokens(now)
	most = max(1, most)
	b.rate *= most / b.most
	b.most = most
	b.tokens = min(b.tokens, b.maxTokens())
}

// takeToken counts one message, if allowed.
func (b *bucket) takeToken(now time.Time) bool {
	if b.most == 0 {
		return true
	}
	if b.fillTokens(now); b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// tokenRoom returns how many more messages could be sent shortly, in addition to those already waiting.
func (b *bucket) tokenRoom(now time.Time, waiting int) int {
	if b.most == 0 {
		return math.MaxInt
	}
	b.fillTokens(now)
	return max(0, int(b.tokens+b.rate*(patience/2).Minutes())-waiting)
}

// nextRoom returns the time until room increases by one; 0: time alone will not increase it.
func (b *bucket) nextRoom(now time.Time) time.Duration {
	if b.most == 0 {
		return 0
	}
	if b.fillTokens(now); b.tokens >= b.maxTokens() {
		return 0
	}
	there := b.tokens + b.rate*(patience/2).Minutes()
	return b.timeFor(math.Floor(there) + 1 - there)
}

// timeFor returns how long it takes to get a number of tokens.
func (b *bucket) timeFor(tokens float64) time.Duration {
	return time.Duration(tokens/b.rate*float64(time.Minute)) + time.Microsecond
}

// timeToNext returns the time until there is a token.
func (b *bucket) timeToNext(now time.Time) time.Duration {
	if b.most == 0 {
		return 0
	}
	b.fillTokens(now)
	missing := 1 - b.tokens
	if missing <= 0 {
		return 0
	}
	return b.timeFor(missing)
}

func (b *bucket) halveRate(now time.Time) {
	if b.most == 0 {
		return
	}
	b.fillTokens(now)
	b.rate = max(b.rate/2, min(b.most, max(1, b.most/16)))
	b.tokens = min(b.tokens, b.maxTokens())
	b.credit = 0
}

func (b *bucket) recordDelivery(now time.Time) {
	if b.most == 0 || b.rate >= b.most {
		return
	}
	if b.credit++; b.credit < deliveriesPerStep {
		return
	}
	b.fillTokens(now)
	b.credit = 0
	b.rate = min(b.most, b.rate+b.most/rateSteps)
}
