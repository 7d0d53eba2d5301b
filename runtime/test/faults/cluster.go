package faults

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
)

// Cluster runs several processes on one database, each a node with its own name.
type Cluster []*Server

// StartCluster starts a number of processes. env is NAME=value for all of them.
func StartCluster(t testing.TB, database string, n int, env ...string) Cluster {
	t.Helper()
	return StartClusterAs(t, "", database, n, env...)
}

// StartClusterAs is StartCluster for another program.
func StartClusterAs(t testing.TB, program, database string, n int, env ...string) Cluster {
	t.Helper()
	first := StartAs(t, program, database, append(slices.Clone(env), "POSTRIDER_NODE=node-1")...)
	nodes := Cluster{first}
	for i := 2; i <= n; i++ {
		nodes = append(nodes, first.Moved(database,
			append(slices.Clone(env), fmt.Sprintf("POSTRIDER_NODE=node-%d", i))...))
	}
	return nodes
}

// KillNow kills the process, and does not wait until the database has noticed.
func (s *Server) KillNow() {
	s.t.Helper()
	s.Signal(syscall.SIGKILL)
	_ = s.Ended() // ended by the signal
}
