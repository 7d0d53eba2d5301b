package webhooks

import (
	"sync"
	"time"
)

// promptly is within what time an endpoint answers that gets its full room.
const promptly = 2 * time.Second

// forgetAfter is how long an endpoint to which nothing is sent is remembered.
const forgetAfter = time.Hour

// flights counts the POSTs under way in this process, so that an endpoint that hangs,
// or many of them, leave room for the others: each has a few at a time, one that has
// not answered promptly has one, one that was not tried yet has one too, and those that
// did not answer promptly have half of all together. It is safe for concurrent use.
type flights struct {
	per      int // at a time to one endpoint
	doubtful int // most to endpoints that did not answer promptly
	nudge    func()

	mu       sync.Mutex
	byID     map[string]*flight
	unproven int // under way to endpoints that were doubtful when they began
}

// flight is one endpoint.
type flight struct {
	active int
	tried  bool // in this process
	prompt bool // the latest answer was
	more   bool // the latest claim took all that it might
	used   time.Time

	rate   float64 // per second; 0: no limit
	tokens float64
	filled time.Time
	timer  *time.Timer // nudges when there is a token again
}

// doubtful: it was tried, and did not answer promptly.
func (e *flight) doubtful() bool { return e.tried && !e.prompt }

func newFlights(per, doubtful int) *flights {
	return &flights{per: per, doubtful: doubtful, nudge: func() {}, byID: map[string]*flight{}}
}

// limits is what a claim may take.
type limits struct {
	ids      []string // endpoints that are known here
	rooms    []int64  // how many more of each
	doubtful []bool   // which of them share the room of the doubtful
	room     int      // of each endpoint that is not among them
	shared   int      // for all doubtful ones together
}

func (f *flights) limits(now time.Time) limits {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := limits{room: 1, shared: max(0, f.doubtful-f.unproven)}
	for id, e := range f.byID {
		if e.active == 0 && now.Sub(e.used) > forgetAfter {
			e.stop()
			delete(f.byID, id)
			continue
		}
		l.ids = append(l.ids, id)
		l.rooms = append(l.rooms, int64(f.roomOf(e, now)))
		l.doubtful = append(l.doubtful, e.doubtful())
	}
	return l
}

func (f *flights) roomOf(e *flight, now time.Time) int {
	room := f.per
	if !e.prompt {
		room = 1
	}
	if room -= e.active; e.rate > 0 {
		e.fill(now, f.per)
		room = min(room, int(e.tokens))
	}
	return max(0, room)
}

// fill adds the tokens of the time since it was called last; a short burst is no
// more than may be under way at once.
func (e *flight) fill(now time.Time, burst int) {
	if most := min(e.rate, float64(burst)); e.filled.IsZero() {
		e.tokens = max(1, most)
	} else {
		e.tokens = min(max(1, most), e.tokens+now.Sub(e.filled).Seconds()*e.rate)
	}
	e.filled = now
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
		if rate := float64(j.rateLimit); rate != e.rate {
			e.rate, e.filled = rate, time.Time{}
		}
		if e.rate > 0 {
			e.fill(now, f.per)
			e.tokens--
		}
		e.active++
		e.used = now
		if j.doubtful = e.doubtful(); j.doubtful {
			f.unproven++
		}
		taken[j.webhookID]++
	}
	for i, id := range l.ids {
		if e := f.byID[id]; e != nil && l.rooms[i] > 0 {
			e.more = taken[id] == int(l.rooms[i])
			delete(taken, id)
		}
	}
	for id := range taken { // new here
		f.byID[id].more = true
	}
	for _, j := range jobs {
		if e := f.byID[j.webhookID]; e.more && e.rate > 0 && e.tokens < 1 {
			e.stop()
			e.timer = time.AfterFunc(time.Duration((1-e.tokens)/e.rate*float64(time.Second))+time.Millisecond, f.nudge)
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
	e.active--
	if answered != nil && !answered.cut {
		e.tried, e.prompt = true, answered.status != 0 && answered.took < promptly
	}
	if e.more || j.doubtful {
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
