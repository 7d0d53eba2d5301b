package worker

import "sync"

// room counts the claimed jobs that have not been run.
type room struct {
	mu       sync.Mutex
	free     int
	reserved int // places of reservations, which are not free
	freed    chan struct{}
}

func newRoom(size int) room { return room{free: size, freed: make(chan struct{}, 1)} }

// waitForRoom blocks until at least n more jobs may be claimed and returns how many. It returns false if stop is
// closed first. Only one goroutine waits.
func (r *room) waitForRoom(n int, stop <-chan struct{}) (int, bool) {
	for {
		r.mu.Lock()
		free := r.free
		r.mu.Unlock()
		if free >= n {
			return free, true
		}
		select {
		case <-r.freed:
		case <-stop:
			return 0, false
		}
	}
}

func (r *room) takePlaces(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free -= n
}

func (r *room) returnPlace() { r.returnPlaces(1) }

func (r *room) returnPlaces(n int) {
	r.mu.Lock()
	r.free += n
	r.mu.Unlock()
	select {
	case r.freed <- struct{}{}:
	default:
	}
}

// reservePlaces takes up to n places, leaves at least keep, and returns how many it took. All reservations together
// never have more than most places.
func (r *room) reservePlaces(n, keep, most int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n = max(0, min(n, r.free-keep, most-r.reserved))
	r.free -= n
	r.reserved += n
	return n
}

// endReservation frees the places of a reservation that have no job.
func (r *room) endReservation(places, jobs int) {
	r.mu.Lock()
	r.reserved -= places
	r.mu.Unlock()
	if jobs < places {
		r.returnPlaces(places - jobs)
	}
}

// registry is the set of jobs that were started and are not settled.
type registry[J any] struct {
	mu    sync.Mutex
	items map[*item[J]]struct{}
}

func (r *registry[J]) add(it *item[J]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items[it] = struct{}{}
}

func (r *registry[J]) remove(it *item[J]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.items, it)
}

func (r *registry[J]) size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.items)
}

func (r *registry[J]) findItems(chosen func(*item[J]) bool) []*item[J] {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*item[J]
	for it := range r.items {
		if chosen(it) {
			found = append(found, it)
		}
	}
	return found
}
