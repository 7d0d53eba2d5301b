package node

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/node/machine"
)

// Process is a node as other processes see it.
type Process struct {
	Name       string           `json:"name"` // from POSTRIDER_NODE; a restarted process has the same name
	Version    string           `json:"version"`
	Schema     string           `json:"schema"`    // the newest migration of its program; empty for programs too old to report it
	Roles      []string         `json:"roles"`     // Accepts, Delivers, Webhooks
	Addresses  machine.Networks `json:"addresses"` // addresses from which it can send, at most 256; empty for older versions
	Egress     string           `json:"egress"`    // processes with the same name share one public address
	Cell       *int             `json:"cell"`      // from POSTRIDER_CELL; nil for older versions
	StartedAt  time.Time        `json:"started_at"`
	SeenAt     time.Time        `json:"seen_at"`        // its last beat, by the database clock
	Silent     time.Duration    `json:"silent"`         // time since its last beat
	ClockAhead *int64           `json:"clock_ahead_ms"` // how far its clock is ahead of the database clock; nil if negligible
	Alive      bool             `json:"alive"`          // false if it died; a process that stops cleanly is not listed
}

// mostProcesses limits a list, because a process that crashes repeatedly leaves a row each time.
const mostProcesses = 200

// processesSQL returns SQL that selects the rows of the last hour as a JSON list, at a given time and
// without one id.
func processesSQL(at, without, gone, forget string) string {
	return `(SELECT coalesce(jsonb_agg(jsonb_build_object('name', p.name, 'version', p.version, 'schema', coalesce(p.schema, ''), 'roles', p.roles, 'addresses', coalesce(p.addresses, '[]'), 'egress', coalesce(p.egress, ''), 'cell', p.cell,
		'started_at', p.started_at, 'seen_at', p.seen_at, 'silent', (extract(epoch FROM ` + at + ` - p.seen_at) * 1000000000)::bigint, 'clock_ahead_ms', p.clock_ahead_ms,
		'alive', p.seen_at > ` + at + ` - ` + gone + ` * interval '1 microsecond') ORDER BY p.started_at, p.id), '[]')
	FROM (SELECT * FROM nodes WHERE id <> ` + without + ` AND seen_at > ` + at + ` - ` + forget + ` * interval '1 microsecond' ORDER BY seen_at DESC LIMIT ` + fmt.Sprint(mostProcesses) + `) p)`
}

// Processes returns the live processes of the installation and those that died within the last hour, oldest
// first.
func (n *Node) Processes(ctx context.Context) ([]Process, error) {
	return readProcesses(ctx, n.db, n.times)
}

// Processes does the same for programs that are not a node.
func Processes(ctx context.Context, d *db.DB) ([]Process, error) {
	return readProcesses(ctx, d, standard)
}

func readProcesses(ctx context.Context, d *db.DB, t timing) ([]Process, error) {
	found, err := db.One(ctx, d.SQL, func(all *[]Process) []any { return []any{db.ScanJSON(all)} },
		`SELECT `+processesSQL("now()", "0", "$1", "$2"), t.gone.Microseconds(), t.forget.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	return found, nil
}

// countAlive returns how many of the processes are alive.
func countAlive(processes []Process) (n int) {
	for _, p := range processes {
		if p.Alive {
			n++
		}
	}
	return n
}

// State returns a word for display: alive or silent.
func (p Process) State() string {
	if p.Alive {
		return "alive"
	}
	return "silent"
}

// Is reports whether the process has a role.
func (p Process) Is(role string) bool { return slices.Contains(p.Roles, role) }

// DeliversFrom reports whether the process delivers mail and can send from an address. If name is not
// empty, the process must have that name.
func (p Process) DeliversFrom(addr netip.Addr, name string) bool {
	return p.Is(Delivers) && (name == "" || name == p.Name) && p.Addresses.Has(addr)
}

// Self returns this process. It is alive while its beats are stored.
func (n *Node) Self() Process {
	n.mu.Lock()
	p := Process{Name: n.name, Version: n.version, Roles: n.roleNames, Egress: n.egress, Cell: &n.cell, Silent: elapsedSince(n.beat)}
	p.Alive = p.Silent < n.times.gone
	n.mu.Unlock()
	p.Addresses = n.own.addressList()
	return p
}

// Others returns the other processes as of the latest beat: the live ones and those that died within the
// last hour.
func (n *Node) Others() []Process {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.others
}
