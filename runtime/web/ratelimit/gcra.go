package ratelimit

import "time"

// The generic cell rate algorithm (ITU-T I.371, as a virtual schedule): of an
// account only the time is known at which it will have all of its requests back.
// Each request moves it on by one interval, unless it would then be further ahead
// of now than the whole burst is long.

// rate is how an account gets its requests back. In microseconds, the database's
// own precision, so that nothing is rounded between here and there.
type rate struct {
	interval int64 // microseconds until one more
	burst    int64 // requests
}

func rateOf(perSecond int) rate {
	perSecond = max(perSecond, 1)
	return rate{interval: max(int64(time.Second/time.Microsecond)/int64(perSecond), 1), burst: burst * int64(perSecond)}
}

// result is what became of one request.
type result struct {
	admitted   bool
	remaining  int64         // requests that could follow at once
	reset      time.Duration // until the whole burst is there again
	retryAfter time.Duration // of a refusal: until one more is admitted
}

// of gives the result of the nth request (from 1) of those that were counted
// together, of which so many were admitted, when the account was ahead before
// the first.
func (r rate) of(nth, admitted, ahead int64) result {
	after := ahead + min(nth, admitted)*r.interval
	out := result{admitted: nth <= admitted, reset: time.Duration(after) * time.Microsecond}
	if out.admitted {
		out.remaining = max(r.burst*r.interval-after, 0) / r.interval
		return out
	}
	out.retryAfter = time.Duration(after+r.interval-r.burst*r.interval) * time.Microsecond
	return out
}
