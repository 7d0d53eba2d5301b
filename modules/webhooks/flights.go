package webhooks

import (
	"slices"
	"sync"
	"time"
)

// maxPerEndpoint is the maximum number of concurrent POSTs from one process to one endpoint.
const maxPerEndpoint = 4

// fewPosts is the minimum number of POSTs that end before the next claim, if the latest one left due deliveries.
// Otherwise, the worker pauses between claims, because a claim costs about as much as a few deliveries.
const fewPosts = maxPerEndpoint

// promptTime is the response time below which an endpoint gets its full capacity.
const promptTime = 2 * time.Second

// forgetAfter is how long an idle endpoint is remembered.
const forgetAfter = time.Hour

// inFlight counts the POSTs in flight of this process, so that endpoints that hang leave capacity for the
// others. Each endpoint may have a few at a time, a slow or untested one only one, and all slow endpoints
// together at most half of the total. A POST that has been in flight for longer than promptTime no longer
// counts: if many healthy endpoints start to hang at the same moment, the others wait at most that long. It is
// safe for concurrent use.
type inFlight struct {
	most     int    // all POSTs that are not late
	doubtful int    // maximum for slow endpoints
	nudge    func() // there may be deliveries to claim
	nudgeNow func() // there may be many

	mu       sync.Mutex
	byID     map[string]*endpointState
	unproven int  // in flight to endpoints that were slow when the POST started
	full     bool // the latest claim was limited by the total
	count    int
	claimAt  int           // the count at which the next claim is worthwhile; -1: after a pause
	drained  chan struct{} // closed when count falls to roomyCount; nil: nothing waits for that
}

// endpointState is the state of one endpoint.
type endpointState struct {
	begun  []time.Time // start times of POSTs in flight, oldest first
	tried  bool        // this process has seen a response or a failure
	prompt bool        // the latest response was prompt
	more   bool        // the latest claim used its whole allowance
	used   time.Time
	timer  *time.Timer // calls nudge when the rate limit admits another delivery
}

// isSlow reports whether the endpoint's last response was late, or a POST to it is late now.
func (e *endpointState) isSlow(now time.Time) bool {
	return e.tried && !e.prompt || e.countLate(now) > 0
}

// countLate returns the number of POSTs in flight for longer than promptTime.
func (e *endpointState) countLate(now time.Time) (n int) {
	for n < len(e.begun) && now.Sub(e.begun[n]) >= promptTime {
		n++
	}
	return n
}

func newFlights(most int) *inFlight {
	return &inFlight{most: most, doubtful: max(1, most/2), nudge: func() {}, nudgeNow: func() {}, claimAt: -1,
		byID: map[string]*endpointState{}}
}

// limits bound what a claim may take.
type limits struct {
	rooms  []allowance // per endpoint that this process knows
	room   int         // per other endpoint
	most   int         // in total
	shared int         // for all slow endpoints together
	fresh  bool        // only new deliveries are claimed, so others may be due although there was room
}

// allowance is the number of deliveries that a claim may take for one endpoint.
type allowance struct {
	webhookID string
	more      int
	doubtful  bool // counts against the capacity of slow endpoints
}

func (f *inFlight) claimLimits(now time.Time) limits {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := limits{room: 1, most: f.most, shared: max(0, f.doubtful-f.unproven)}
	for id, e := range f.byID {
		if len(e.begun) == 0 && now.Sub(e.used) > forgetAfter {
			e.stopTimer()
			delete(f.byID, id)
			continue
		}
		l.rooms = append(l.rooms, allowance{id, f.roomOf(e, now), e.isSlow(now)})
		l.most -= len(e.begun) - e.countLate(now)
	}
	f.full = l.most <= 0
	return l
}

// freshLimits returns the limits of a claim of new deliveries.
func (f *inFlight) freshLimits(now time.Time) limits {
	f.mu.Lock()
	full := f.full
	f.mu.Unlock()
	l := f.claimLimits(now)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full, l.fresh = f.full || full, true
	return l
}

func (f *inFlight) roomOf(e *endpointState, now time.Time) int {
	room := maxPerEndpoint
	if !e.prompt || e.countLate(now) > 0 {
		room = 1
	}
	return max(0, room-len(e.begun))
}

// begin registers the deliveries of a claim.
func (f *inFlight) begin(l limits, jobs []delivery, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := map[string]int{}
	for i := range jobs {
		j := &jobs[i]
		e := f.byID[j.webhookID]
		if e == nil {
			e = &endpointState{}
			f.byID[j.webhookID] = e
		}
		if j.doubtful = e.isSlow(now); j.doubtful {
			f.unproven++
		}
		e.begun = append(e.begun, now)
		f.count++
		e.used, j.begun = now, now
		taken[j.webhookID]++
	}
	f.full = f.full || len(jobs) >= l.most
	for _, r := range l.rooms {
		if e := f.byID[r.webhookID]; e != nil && r.more > 0 {
			if all := taken[r.webhookID] == r.more; all || !l.fresh {
				e.more = all
			}
			delete(taken, r.webhookID)
		}
	}
	for id := range taken { // first seen now
		f.byID[id].more = true
	}
	if !l.fresh {
		f.claimAt = -1
		if ended := max(len(jobs)/2, fewPosts); len(jobs) >= ended && (f.full || slices.ContainsFunc(jobs, f.mayHaveMore)) {
			f.claimAt = f.count - ended
		}
	}
	for _, j := range jobs {
		if e := f.byID[j.webhookID]; j.again > 0 {
			e.stopTimer()
			e.timer = time.AfterFunc(time.Duration(j.again)*time.Microsecond+time.Millisecond, f.nudge)
		}
	}
}

// mayHaveMore reports whether the latest claim may have left due deliveries of the endpoint.
func (f *inFlight) mayHaveMore(j delivery) bool { return f.byID[j.webhookID].more }

// end removes a delivery. answered is nil if the POST was never started.
func (f *inFlight) end(j delivery, answered *answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if j.doubtful {
		f.unproven--
	}
	e := f.byID[j.webhookID]
	if e == nil {
		return
	}
	if i := slices.Index(e.begun, j.begun); i >= 0 {
		e.begun = slices.Delete(e.begun, i, i+1)
		f.count--
	}
	if f.count <= f.claimAt {
		f.claimAt = -1
		f.nudgeNow()
	}
	if f.drained != nil && f.count <= f.roomyCount() {
		close(f.drained)
		f.drained = nil
	}
	if answered != nil && !answered.cut {
		e.tried, e.prompt = true, answered.Status != 0 && answered.took < promptTime
	}
	if e.more || j.doubtful || f.full {
		f.nudge()
	}
}

func (e *endpointState) stopTimer() {
	if e.timer != nil {
		e.timer.Stop()
	}
}

func (f *inFlight) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.byID {
		e.stopTimer()
	}
}

// roomyCount is the number of POSTs in flight with which most of the capacity is free.
func (f *inFlight) roomyCount() int { return f.most / 4 }

// awaitRoom waits until most of the capacity is free, at most as long as the limit.
func (f *inFlight) awaitRoom(limit time.Duration) {
	f.mu.Lock()
	if f.count <= f.roomyCount() {
		f.mu.Unlock()
		return
	}
	if f.drained == nil {
		f.drained = make(chan struct{})
	}
	drained := f.drained
	f.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-drained:
	case <-timer.C:
	}
}
