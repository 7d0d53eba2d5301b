package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// FaultKind is what ended attempts without a known result.
type FaultKind string

// The kinds.
const (
	// ProcessFault is a process that was killed, frozen or cut off from the database: its claims were handed back.
	ProcessFault FaultKind = "process"
	// ConnectionFault is connections of a running process that broke after the final dot.
	ConnectionFault FaultKind = "connection"
)

// Fault is one hand-back of the claims of a process, or the broken connections of a process, in the last 24 hours.
type Fault struct {
	Kind    FaultKind
	Node    string    // name of the process; "" once its row has been deleted
	Process int32     // its id, which differs after each start
	At      time.Time // when the first result became unknown
	LastAt  time.Time
	InDoubt int // recipients that may have received an email twice
}

// mostFaults limits a list, because a process that crashes repeatedly is a fault each time.
const mostFaults = 100

// faultsSQL reads the index attempt_in_doubt, which contains only attempts without a known result. The hand-back of a
// process takes a few beats, and its other claims end with their leases a minute later. An attempt that was cut off has
// no phase. Attempts of a moved account have no node: their fault was at the source.
const faultsSQL = `
WITH doubts AS (
	SELECT node, phase <> '' AS connection, in_doubt_at AS at FROM attempts
	WHERE in_doubt_at > now() - interval '24 hours' AND node IS NOT NULL ORDER BY in_doubt_at DESC LIMIT $1
), parted AS (
	SELECT *, NOT connection AND at - lag(at) OVER (PARTITION BY node, connection ORDER BY at) > interval '2 minutes' AS later FROM doubts
), numbered AS (
	SELECT *, count(*) FILTER (WHERE later) OVER (PARTITION BY node, connection ORDER BY at) AS part FROM parted
)
SELECT coalesce((SELECT name FROM nodes n WHERE n.id = d.node), ''), d.node, d.connection, min(d.at), max(d.at), count(*)
FROM numbered d GROUP BY d.node, d.connection, d.part ORDER BY 4 DESC, 2, 3 LIMIT $2`

// Faults returns the faults of the last 24 hours, latest first, with up to MaxDepth recipients and at most 100 faults.
func Faults(ctx context.Context, d *db.DB) ([]Fault, error) {
	type row struct {
		Fault

		connection bool
	}
	rows, err := db.All(ctx, d.Hot, func(r *row) []any {
		return []any{&r.Node, &r.Process, &r.connection, &r.At, &r.LastAt, &r.InDoubt}
	}, faultsSQL, MaxDepth, mostFaults)
	if err != nil {
		return nil, fmt.Errorf("list faults: %w", err)
	}
	list := make([]Fault, len(rows))
	for i, r := range rows {
		if r.Kind = ProcessFault; r.connection {
			r.Kind = ConnectionFault
		}
		list[i] = r.Fault
	}
	return list, nil
}

// Faults is the function of the same name on the service's database.
func (s *Service) Faults(ctx context.Context) ([]Fault, error) { return Faults(ctx, s.db) }
