package capacity

import "sync"

// Share is how many connections this process may open. Safe for concurrent use.
type Share struct {
	configured int

	mutex     sync.Mutex
	room      int // of all processes together; 0: unknown
	processes int // that live, with this one
	pools     []*Pool
}

// NewShare returns the share of a process that may open so many connections in its pools.
func NewShare(configured int) *Share { return &Share{configured: configured, processes: 1} }

// SetRoom notes how many connections all processes may open together.
func (s *Share) SetRoom(connections int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.room != connections {
		s.room = connections
		s.divide()
	}
}

// SetProcesses notes how many processes divide the room, with this one.
func (s *Share) SetProcesses(n int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if n = max(n, 1); s.processes != n {
		s.processes = n
		s.divide()
	}
}

// Figures returns the room, 0 if it is unknown, the number of processes and how many connections the pools of each
// may open.
func (s *Share) Figures() (room, processes, each int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.room, s.processes, s.each()
}

// each is the number of connections that the pools of this process may open together. The caller holds mutex.
func (s *Share) each() int {
	if s.room == 0 {
		return s.configured
	}
	return Each(s.room, s.processes, s.configured)
}

// Each returns how many connections the pools of each process may open. One more listens.
func Each(room, processes, configured int) int {
	return max(min((room-reserved(room))/processes-1, configured), 2) // each pool has at least one
}

// Needed returns the room that processes need in order to open as many connections as they are configured to.
func Needed(processes, configured int) int {
	room := processes * (configured + 1)
	for Each(room, processes, configured) < configured {
		room++
	}
	return room
}

// reserved is how much of the room stays free for commands, migrations, backups and other programs.
func reserved(room int) int { return max(3, room/20) }

// divide gives each pool its part. The caller holds mutex.
func (s *Share) divide() {
	left := s.each()
	for i, pool := range s.pools {
		part := left / (len(s.pools) - i)
		pool.setMost(part)
		left -= part
	}
}

// giveUp has another pool than the given one close a connection.
func (s *Share) giveUp(to *Pool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, pool := range s.pools {
		if pool != to && pool.giveUp() {
			return
		}
	}
}

// GiveUp closes a connection of some pool, for one that the process needs outside of its pools.
func (s *Share) GiveUp() { s.giveUp(nil) }
