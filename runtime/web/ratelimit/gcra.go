package ratelimit

import "time"

// The generic cell rate algorithm (ITU-T I.371, as a virtual schedule). The only state of an account is the
// time at which it will have regained all of its requests. Each request moves it forward by one interval,
// unless it would then be further ahead of now than the duration of the whole burst.

// rate is how fast an account regains its requests. It is in microseconds, the precision of the database, to
// avoid rounding.
type rate struct {
	interval int64 // microseconds per request
	burst    int64 // requests
}

func rateOf(perSecond int) rate {
	perSecond = max(perSecond, 1)
	return rate{interval: max(int64(time.Second/time.Microsecond)/int64(perSecond), 1), burst: burst * int64(perSecond)}
}

// result is the decision about one request.
type result struct {
	admitted   bool
	remaining  int64         // requests that could follow immediately
	reset      time.Duration // until the whole burst is available again
	retryAfter time.Duration // if rejected: until another request is admitted
}

// resultOf returns the result of the nth request (from 1) of those counted together, of which admitted were
// admitted, for an account that was ahead by that much before the first.
func (r rate) resultOf(nth, admitted, ahead int64) result {
	after := ahead + min(nth, admitted)*r.interval
	out := result{admitted: nth <= admitted, reset: time.Duration(after) * time.Microsecond}
	if out.admitted {
		out.remaining = max(r.burst*r.interval-after, 0) / r.interval
		return out
	}
	out.retryAfter = time.Duration(after+r.interval-r.burst*r.interval) * time.Microsecond
	return out
}
