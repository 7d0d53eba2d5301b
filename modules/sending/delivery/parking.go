package delivery

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/runtime/db"
)

// parkedChannel wakes the other processes when one has parked what only another can deliver.
const parkedChannel = "recipients_parked"

// laneLabel names the parked rows of a destination by a way. Destinations have no
// space in them.
func laneLabel(way, destination string) string { return way + " " + destination }

func splitLabel(label string) (way, destination string, ok bool) {
	at := strings.LastIndexByte(label, ' ')
	if at < 0 {
		return "", "", false
	}
	return label[:at], label[at+1:], true
}

const (
	// lookForLanes is how often a process looks for parked rows that it does not know
	// of: another process's, which may be gone, or its own of before a restart.
	lookForLanes = 10 * time.Second
	// lookWhenTold is the time between two looks, in lengths of the latest look, when another
	// process says that it has parked something that is not its own.
	lookWhenTold = 20
	// untriedAfter is how long a row waits in a paused lane beyond the time when it is
	// due, before it is put off like after an attempt, with the lane's reason: senders
	// hear of the delay, and the end of the retries comes in its time.
	untriedAfter = 5 * time.Minute
	// untriedEvery keeps that from taking the place of deliveries.
	untriedEvery = time.Second
	// drawnLanes is how many lanes one claim draws from; the next one goes on after them.
	drawnLanes = 64
)

// parking knows which lanes have parked rows. It may be wrong either way for a
// while: a lane without rows costs a look, one that is not known is found again.
type parking struct {
	mutex   sync.Mutex
	lanes   map[string]bool // whether rows of it that wait too long are being put off
	looked  time.Time
	took    time.Duration // the latest look
	soon    bool          // another process has parked something, perhaps for this one
	putOff  time.Time
	last    string // the lane that the latest claim drew from last
	backlog bool   // the latest claim parked rows: there may be more of that kind before those of others
}

func (p *parking) add(lanes []string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.lanes == nil {
		p.lanes = map[string]bool{}
	}
	for _, l := range lanes {
		if _, known := p.lanes[l]; !known {
			p.lanes[l] = false
		}
	}
}

// parked notes what a claim has parked.
func (p *parking) parked(rows parkedRows) {
	p.add(rows.lanes)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.backlog = rows.any()
}

// forget is for a lane that others draw from.
func (p *parking) forget(lane string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.lanes, lane)
}

// lookSoon has the next claim look for lanes.
func (p *parking) lookSoon() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.soon = true
}

// lookTook bounds how often it is looked when others tell of something.
func (p *parking) lookTook(d time.Duration) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.took = d
}

// look tells whether it is time to look for lanes, and notes that it is done.
func (p *parking) look() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	every := lookForLanes
	if p.soon {
		every = min(every, lookWhenTold*p.took)
	}
	if time.Since(p.looked) < every {
		return false
	}
	p.looked, p.soon = time.Now(), false
	return true
}

func (p *parking) backlogged() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.backlog
}

func (p *parking) empty() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return len(p.lanes) == 0
}

func (p *parking) untried(lane string) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.lanes[lane]
}

// drawn learns from what the draws brought.
func (p *parking) drawn(draws []draw, got []pickedRow) {
	counts := map[string]int{}
	for _, c := range got {
		counts[c.lane.String]++
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, d := range draws {
		if d.late == 0 && counts[d.lane] < d.room {
			delete(p.lanes, d.lane)
		}
	}
}

// next gives lanes to draw from, each claim going on where the one before ended.
func (p *parking) next() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	all := slices.Sorted(maps.Keys(p.lanes))
	if len(all) == 0 {
		return nil
	}
	at, _ := slices.BinarySearch(all, p.last+"\x00")
	all = append(all[at:], all[:at]...)
	all = all[:min(len(all), drawnLanes)]
	p.last = all[len(all)-1]
	return all
}

// draws says what to take from lanes: as much as they have room for, but not more
// than limit together, and from a paused one what has waited for too long.
func (c *claimer) draws(limit int) (list []draw) {
	p := c.parking
	late := p.time(&p.putOff, untriedEvery)
	for _, label := range p.next() {
		way, destination, ok := splitLabel(label)
		if !ok || limit == 0 {
			continue
		}
		var room int
		var paused bool
		switch c.ways.Place(way) {
		case outbound.Elsewhere:
			p.forget(label)
			continue
		case outbound.Stranded:
			paused = true
		default:
			room = min(c.lanes.Room(way, destination), limit)
			_, _, paused = c.lanes.Paused(way, destination)
		}
		p.mutex.Lock()
		p.lanes[label] = paused
		p.mutex.Unlock()
		switch {
		case room > 0:
			list = append(list, draw{lane: label, room: room})
			limit -= room
		case paused && late:
			list = append(list, draw{lane: label, room: limit, late: untriedAfter})
			limit = 0
		}
	}
	return list
}

// time tells whether something is to be done again, and notes that it is.
func (p *parking) time(last *time.Time, every time.Duration) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	now := time.Now()
	if now.Sub(*last) < every {
		return false
	}
	*last = now
	return true
}

// findLanesSQL walks the index from lane to lane: its cost is the number of lanes
// that have rows, not the number of rows.
const findLanesSQL = `
WITH RECURSIVE found AS (
	(SELECT lane FROM recipients WHERE due_at IS NOT NULL AND lane IS NOT NULL ORDER BY lane LIMIT 1)
	UNION ALL
	SELECT (SELECT lane FROM recipients WHERE due_at IS NOT NULL AND lane > f.lane ORDER BY lane LIMIT 1) FROM found f WHERE f.lane IS NOT NULL
)
SELECT lane FROM found WHERE lane IS NOT NULL LIMIT 10000`

// findLanes looks for lanes with parked rows, now and then.
func (c *claimer) findLanes(ctx context.Context) error {
	if !c.parking.look() {
		return nil
	}
	begun := time.Now()
	lanes, err := db.All(ctx, c.db.Hot, db.Value[string], findLanesSQL)
	if err != nil {
		return fmt.Errorf("find lanes: %w", err)
	}
	c.parking.lookTook(time.Since(begun))
	c.parking.add(slices.DeleteFunc(lanes, func(label string) bool {
		way, _, ok := splitLabel(label)
		return ok && c.ways.Place(way) == outbound.Elsewhere
	}))
	return nil
}
