package delivery

import "sync"

// unseen tracks the lanes for which the common queue may contain due recipients that no claim has seen yet. New
// recipients of such a lane are not handed over (handover.go): they would overtake the others. It may be wrong for a
// while in either direction, which only affects the order in which recipients of a lane are tried.
type unseen struct {
	mutex      sync.Mutex
	everywhere bool              // the latest claim left recipients in the common queue, or there was none
	lanes      map[string]uint64 // number of the latest recipient, by label
	number     uint64
}

// maxUnseen is how many lanes are tracked individually.
const maxUnseen = 10_000

func newUnseen() *unseen { return &unseen{everywhere: true, lanes: map[string]uint64{}} }

// add records lanes of recipients that were stored and not claimed.
func (u *unseen) add(labels []string) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.number++
	for _, label := range labels {
		if len(u.lanes) >= maxUnseen {
			u.everywhere = true
			return
		}
		u.lanes[label] = u.number
	}
}

// addAll records that recipients of unknown lanes were stored and not claimed.
func (u *unseen) addAll() {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.number++
	u.everywhere = true
}

// contains reports whether a lane may have such recipients.
func (u *unseen) contains(label string) bool {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	_, found := u.lanes[label]
	return found || u.everywhere
}

// currentMark returns the mark to pass to recordClaim, for a claim that is about to begin.
func (u *unseen) currentMark() uint64 {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	return u.number
}

// recordClaim records a claim that began at a mark, and whether it left nothing in the common queue.
func (u *unseen) recordClaim(mark uint64, emptied bool) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if !emptied {
		u.everywhere = true
		return
	}
	if u.number == mark {
		u.everywhere = false
		clear(u.lanes)
		return
	}
	for label, number := range u.lanes {
		if number <= mark {
			delete(u.lanes, label)
		}
	}
}
