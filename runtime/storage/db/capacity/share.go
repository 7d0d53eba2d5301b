package capacity

import "sync"

// Share is the number of connections that this process may open. It is safe for concurrent use.
type Share struct {
	configured int

	mutex     sync.Mutex
	room      int // for all processes together; 0 if unknown
	processes int // number of live processes, including this one
	pools     []*Pool
}

// NewShare returns the share of a process whose pools may together open at most that many connections.
func NewShare(configured int) *Share { return &Share{configured: configured, processes: 1} }

// SetRoom sets how many connections all processes may open together.
func (s *Share) SetRoom(connections int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.room != connections {
		s.room = connections
		s.dividePools()
	}
}

// SetProcesses sets how many processes divide the room, including this one.
func (s *Share) SetProcesses(n int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if n = max(n, 1); s.processes != n {
		s.processes = n
		s.dividePools()
	}
}

// Figures returns the room (0 if unknown), the number of processes, and how many connections the pools of
// each may open.
func (s *Share) Figures() (room, processes, each int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.room, s.processes, s.connectionsPerProcess()
}

// connectionsPerProcess returns the number of connections that the pools of this process may open together.
// The caller holds mutex.
func (s *Share) connectionsPerProcess() int {
	if s.room == 0 {
		return s.configured
	}
	return PerProcess(s.room, s.processes, s.configured)
}

// PerProcess returns how many connections the pools of each process may open. One more connection listens.
func PerProcess(room, processes, configured int) int {
	return max(min((room-reservedConnections(room))/processes-1, configured), 2) // each pool has at least one
}

// NeededRoom returns the room that processes need in order to open all configured connections.
func NeededRoom(processes, configured int) int {
	room := processes * (configured + 1)
	for PerProcess(room, processes, configured) < configured {
		room++
	}
	return room
}

// reservedConnections returns how much of the room stays free for commands, migrations, backups and other programs.
func reservedConnections(room int) int { return max(3, room/20) }

// dividePools assigns each pool its part. The caller holds mutex.
func (s *Share) dividePools() {
	left := s.connectionsPerProcess()
	for i, pool := range s.pools {
		part := left / (len(s.pools) - i)
		pool.setMost(part)
		left -= part
	}
}

// giveUp makes a pool other than the given one close a connection.
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
