package shown

import (
	"time"

	"github.com/postrider/postrider/runtime/work/node"
)

// Node is the JSON of a process in `postrider admin nodes`.
type Node struct {
	Name       string    `json:"name"`
	State      string    `json:"state"` // alive or silent
	Version    string    `json:"version"`
	Roles      []string  `json:"roles"`
	Addresses  []string  `json:"addresses"`
	Egress     string    `json:"egress"`
	Cell       *int      `json:"cell"` // null if the program is older than cells
	StartedAt  time.Time `json:"started_at"`
	SeenAt     time.Time `json:"seen_at"`
	Silent     float64   `json:"silent_seconds"`
	ClockAhead *int64    `json:"clock_ahead_ms"` // null if negligible
}

// NodeOf returns the JSON of a process.
func NodeOf(p node.Process) Node {
	return Node{Name: p.Name, State: p.State(), Version: p.Version, Roles: append([]string{}, p.Roles...),
		Addresses: p.Addresses.Texts(), Egress: p.Egress, Cell: p.Cell,
		StartedAt: p.StartedAt.UTC(), SeenAt: p.SeenAt.UTC(), Silent: p.Silent.Round(time.Millisecond).Seconds(),
		ClockAhead: p.ClockAhead}
}
