package delivery

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/runtime/storage/db"
)

// parkedChannel wakes other processes when one has parked recipients that only another can deliver.
const parkedChannel = "recipients_parked"

// laneLabel returns the name under which rows of a destination and a way are parked. Destinations contain no
// spaces.
func laneLabel(way, destination string) string { return way + " " + destination }

func splitLabel(label string) (way, destination string, ok bool) {
	at := strings.LastIndexByte(label, ' ')
	if at < 0 {
		return "", "", false
	}
	return label[:at], label[at+1:], true
}

const (
	// laneSearchInterval is how often a process searches for parked rows that it does not track: those of another
	// process, which may be dead, or its own from before a restart.
	laneSearchInterval = 10 * time.Second
	// laneSearchFactor is the minimum time between two searches when another process reports that it parked
	// recipients for others, as a multiple of the duration of the latest search.
	laneSearchFactor = 20
	// untriedAfter is how long a row waits in a paused lane past its due time before it is postponed as after
	// an attempt, with the lane's reason. Senders are thus notified of the delay, and retries end on time.
	untriedAfter = 5 * time.Minute
	// untriedEvery limits how often that happens, so that it does not take the place of deliveries.
	untriedEvery = time.Second
	// mostDraws is how many lanes one claim draws from. The next claim continues after them.
	mostDraws = 64
)

// parking tracks which lanes have parked recipients. It may be wrong for a while in either
// direction: a lane without recipients costs one draw, and the next search finds a lane
// that is not tracked. The search is for recipients that another process parked: a process
// never loses track of a lane in which it parked or left a recipient.
type parking struct {
	mutex   sync.Mutex
	lanes   map[string]*list.Element // elements of order by label
	order   list.List                // *parkedLane values, the least recently visited first
	looked  time.Time
	took    time.Duration // duration of the latest search
	soon    bool          // another process has parked recipients, perhaps for this one
	putOff  time.Time
	backlog bool // the latest claim parked rows: more such rows may precede others in the queue
}

// parkedLane is a lane that has parked recipients.
type parkedLane struct {
	label  string
	adds   uint64 // how often recipients were parked in it
	paused bool   // no attempts are made, so recipients that wait too long are put off
}

// add tracks lanes in which recipients were parked.
func (p *parking) add(labels []string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.lanes == nil {
		p.lanes = map[string]*list.Element{}
	}
	for _, label := range labels {
		if p.lanes[label] == nil {
			p.lanes[label] = p.order.PushBack(&parkedLane{label: label})
		}
		p.lanes[label].Value.(*parkedLane).adds++
	}
}

// addParked tracks the lanes in which a claim parked recipients.
func (p *parking) addParked(rows parkedRows) {
	p.add(rows.lanes)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.backlog = rows.hasRows()
}

// remove drops a lane that other processes draw from.
func (p *parking) remove(label string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.removeLocked(label)
}

func (p *parking) removeLocked(label string) {
	if element := p.lanes[label]; element != nil {
		p.order.Remove(element)
		delete(p.lanes, label)
	}
}

// removeEmptied drops the lanes that draws have emptied. It is called after the commit of
// the claim, and keeps a lane in which recipients were parked since the claim began.
func (p *parking) removeEmptied(draws []draw) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, d := range draws {
		if element := p.lanes[d.lane]; d.emptied && element != nil && element.Value.(*parkedLane).adds == d.adds {
			p.removeLocked(d.lane)
		}
	}
}

// requestSearch makes the next claim search for lanes, and returns how long that claim has to wait.
func (p *parking) requestSearch() time.Duration {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.soon = true
	return p.untilSearch()
}

// setSearchDuration records how long a search took, which bounds the frequency of searches that other processes ask
// for.
func (p *parking) setSearchDuration(d time.Duration) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.took = d
}

// claimSearch reports whether it is time to search for lanes, and records the time of that search.
func (p *parking) claimSearch() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.untilSearch() > 0 {
		return false
	}
	p.looked, p.soon = time.Now(), false
	return true
}

// untilSearch returns how long to wait before the next search. The lock is held.
func (p *parking) untilSearch() time.Duration {
	every := laneSearchInterval
	if p.soon {
		every = min(every, laneSearchFactor*p.took)
	}
	return max(0, every-time.Since(p.looked))
}

func (p *parking) hasBacklog() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.backlog
}

func (p *parking) size() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.order.Len()
}

// contains reports whether a lane has parked recipients.
func (p *parking) contains(label string) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.lanes[label] != nil
}

// isPaused reports whether recipients that wait too long in a lane are postponed.
func (p *parking) isPaused(label string) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	element := p.lanes[label]
	return element != nil && element.Value.(*parkedLane).paused
}

func (p *parking) setPaused(label string, paused bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if element := p.lanes[label]; element != nil {
		element.Value.(*parkedLane).paused = paused
	}
}

// visitNext returns the least recently visited lane, with its adds.
func (p *parking) visitNext() (label string, adds uint64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	element := p.order.Front()
	if element == nil {
		return "", 0
	}
	p.order.MoveToBack(element)
	l := element.Value.(*parkedLane)
	return l.label, l.adds
}

// chooseDraws decides how many recipients to draw from which lanes: as many as a lane has room for, at most
// limit in total, and from a paused lane those that have waited too long. It visits each lane at most once;
// more reports that lanes are left to visit.
func (c *claimer) chooseDraws(limit int) (draws []draw, more bool) {
	p := c.parking
	late := p.isDue(&p.putOff, untriedEvery)
	for range p.size() {
		if len(draws) == min(limit, mostDraws) {
			more = true
			break
		}
		label, adds := p.visitNext()
		way, destination, ok := splitLabel(label)
		if !ok {
			continue
		}
		var room int
		var paused bool
		switch c.ways.RoutingOf(way) {
		case outbound.OnOtherNode:
			p.remove(label)
			continue
		case outbound.Unroutable:
			paused = true
		default:
			room = c.lanes.Capacity(way, destination)
			_, _, paused = c.lanes.PausedUntil(way, destination)
		}
		p.setPaused(label, paused)
		switch {
		case room > 0:
			draws = append(draws, draw{lane: label, adds: adds, most: room})
		case paused && late:
			draws = append(draws, draw{lane: label, adds: adds, most: limit, late: untriedAfter})
		}
	}
	shareLimit(draws, limit)
	return draws, more
}

// shareLimit divides a limit evenly among draws, none of which gets more than its most.
func shareLimit(draws []draw, limit int) {
	for grew := true; grew; {
		grew = false
		for i := range draws {
			if d := &draws[i]; limit > 0 && d.room < d.most {
				d.room++
				limit--
				grew = true
			}
		}
	}
}

// isDue reports whether every has passed since last, and if so sets last to now.
func (p *parking) isDue(last *time.Time, every time.Duration) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	now := time.Now()
	if now.Sub(*last) < every {
		return false
	}
	*last = now
	return true
}

// findLanesSQL walks the index from lane to lane, so its cost grows with the number of lanes that have rows,
// not with the number of rows.
const findLanesSQL = `
WITH RECURSIVE found AS (
	(SELECT lane FROM recipients WHERE due_at IS NOT NULL AND lane IS NOT NULL ORDER BY lane LIMIT 1)
	UNION ALL
	SELECT (SELECT lane FROM recipients WHERE due_at IS NOT NULL AND lane > f.lane ORDER BY lane LIMIT 1) FROM found f WHERE f.lane IS NOT NULL
)
SELECT lane FROM found WHERE lane IS NOT NULL LIMIT 10000`

// searchSoon makes the worker search for lanes and claim as soon as the search interval permits.
func (c *claimer) searchSoon() { time.AfterFunc(c.parking.requestSearch(), c.nudge) }

// findLanes searches for lanes with parked rows if a search is due.
func (c *claimer) findLanes(ctx context.Context) error {
	if !c.parking.claimSearch() {
		return nil
	}
	begun := time.Now()
	lanes, err := db.All(ctx, c.db.Hot, db.Value[string], findLanesSQL)
	if err != nil {
		return fmt.Errorf("find lanes: %w", err)
	}
	c.parking.setSearchDuration(time.Since(begun))
	c.parking.add(slices.DeleteFunc(lanes, func(label string) bool {
		way, _, ok := splitLabel(label)
		return ok && c.ways.RoutingOf(way) == outbound.OnOtherNode
	}))
	return nil
}
