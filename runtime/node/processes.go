package node

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/db"
)

// Process is a node as the others see it.
type Process struct {
	Name      string // of its POSTRIDER_NODE; a process that was started anew has the name of the one before
	Version   string
	Roles     []string // Accepts, Delivers, Webhooks
	StartedAt time.Time
	SeenAt    time.Time // its last sign of life, by the database clock
	Alive     bool      // else it died: one that ends as it should is not here
}

const processesSQL = `
SELECT name, version, roles, started_at, seen_at, seen_at > now() - $1 * interval '1 microsecond' FROM nodes WHERE seen_at > now() - $2 * interval '1 microsecond' ORDER BY started_at, id`

// Processes gives the processes of the installation and those that died within the last hour, the oldest
// first.
func (n *Node) Processes(ctx context.Context) ([]Process, error) {
	found, err := db.All(ctx, n.db.SQL, func(p *Process) []any {
		return []any{&p.Name, &p.Version, db.ScanJSON(&p.Roles), &p.StartedAt, &p.SeenAt, &p.Alive}
	}, processesSQL, n.times.gone.Microseconds(), n.times.forget.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	return found, nil
}
