package webhooks

import (
	"slices"
	"sync"
	"time"
)

// perEndpoint is how many POSTs to one endpoint a process has under way at a time.
const perEndpoint = 4

// promptly is within what time an endpoint answers that gets its full room.
const promptly = 2 * time.Second

// forgetAfter is how long an endpoint to which nothing is sent is remembered.
const forgetAfter = time.Hour

// flights counts the POSTs under way in this process, so that an endpoint that hangs,
// or many of them, leave room for the others: each has a few at a time, one that has
// not answered promptly has one, one that was not tried yet has one too, and those that
// did not answer promptly have half of all together. A POST that is not answered
// promptly takes none of the room of others any more: if many endpoints that were well
// hang all at once, the others wait for so long and no longer. It is safe for
// concurrent use.
type flights struct {
	most     int // that are not late yet, of all together
	per      int // at a time to one endpoint
	doubtful int // most to endpoints that did not answer promptly
	nudge    func()

	mu       sync.Mutex
	byID     map[string]*flight
	unproven int  // under way to endpoints that were doubtful when they began
	full     bool // the latest claim could take no more because of most
}

// flight is one endpoint.
type flight struct {
	begun  []time.Time // of those under way, the oldest first
	tried  bool        // in this process
	prompt bool        // the latest answer was
	more   bool        // the latest claim took all that it might
	used   time.Time
	timer  *time.Timer // nudges when the rate of the endpoint admits one again
}

// doubtful: it was tried, and did not answer promptly, or does not just now.
func (e *flight) doubtful(now time.Time) bool { return e.tried && !e.prompt || e.late(now) > 0 }

// late is how many are under way that were not answered promptly.
func (e *flight) late(now time.Time) (n int) {
	for n < len(e.begun) && now.Sub(e.begun[n]) >= promptly {
		n++
	}
	return n
}

func newFlights(most, per int) *flights {
	return &flights{most: most, per: per, doubtful: max(1, most/2), nudge: func() {}, byID: map[string]*flight{}}
}

// limits is what a claim may take.
type limits struct {
	rooms  []allowance // of the endpoints that are known here
	room   int         // of each endpoint that is not among them
	most   int         // of all together
	shared int         // for all doubtful ones together
}

// allowance is what a claim may take for one endpoint.
type allowance struct {
	webhookID string
	more      int
	doubtful  bool // it shares the room of the doubtful
}

func (f *flights) limits(now time.Time) limits {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := limits{room: 1, most: f.most, shared: max(0, f.doubtful-f.unproven)}
	for id, e := range f.byID {
		if len(e.begun) == 0 && now.Sub(e.used) > forgetAfter {
			e.stop()
			delete(f.byID, id)
			continue
		}
		l.rooms = append(l.rooms, allowance{id, f.roomOf(e, now), e.doubtful(now)})
		l.most -= len(e.begun) - e.late(now)
	}
	f.full = l.most <= 0
	return l
}

func (f *flights) roomOf(e *flight, now time.Time) int {
	room := f.per
	if !e.prompt || e.late(now) > 0 {
		room = 1
	}
	return max(0, room-len(e.begun))
}

// begin counts what a claim took.
func (f *flights) begin(l limits, jobs []delivery, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := map[string]int{}
	for i := range jobs {
		j := &jobs[i]
		e := f.byID[j.webhookID]
		if e == nil {
			e = &flight{}
			f.byID[j.webhookID] = e
		}
		if j.doubtful = e.doubtful(now); j.doubtful {
			f.unproven++
		}
		e.begun = append(e.begun, now)
		e.used, j.begun = now, now
		taken[j.webhookID]++
	}
	f.full = f.full || len(jobs) >= l.most
	for _, r := range l.rooms {
		if e := f.byID[r.webhookID]; e != nil && r.more > 0 {
			e.more = taken[r.webhookID] == r.more
			delete(taken, r.webhookID)
		}
	}
	for id := range taken { // new here
		f.byID[id].more = true
	}
	for _, j := range jobs {
		if e := f.byID[j.webhookID]; j.again > 0 {
			e.stop()
			e.timer = time.AfterFunc(time.Duration(j.again)*time.Microsecond+time.Millisecond, f.nudge)
		}
	}
}

// end counts one less. answered is nil for one that was not begun.
func (f *flights) end(j delivery, answered *answer) {
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
	}
	if answered != nil && !answered.cut {
		e.tried, e.prompt = true, answered.Status != 0 && answered.took < promptly
	}
	if e.more || j.doubtful || f.full {
		f.nudge()
	}
}

func (e *flight) stop() {
	if e.timer != nil {
		e.timer.Stop()
	}
}

func (f *flights) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.byID {
		e.stop()
	}
}
