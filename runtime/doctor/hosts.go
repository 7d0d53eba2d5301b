package doctor

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/db"
)

// hosts looks at every host of an address that names several.
func hosts(ctx context.Context, d *db.DB) []Finding {
	all, cluster, err := d.AskHosts(ctx)
	if err != nil {
		s := subject{"database.hosts", "every host of DATABASE_URL answers"}
		return []Finding{s.finding(Skipped, err.Error(), "Look at DATABASE_URL.")}
	}
	return judgeHosts(all, cluster)
}

// judgeHosts finds a host of another cluster before it matters: a process that starts while the right ones are
// away would use it.
func judgeHosts(all []db.HostState, cluster string) (found []Finding) {
	if len(all) < 2 {
		return nil
	}
	s := subject{"database.hosts", "the hosts of DATABASE_URL are one cluster: a primary, and standbys that follow it"}
	primaries := 0
	for _, h := range all {
		switch {
		case h.Err != nil:
			found = append(found, s.finding(Warning, h.Host+": "+h.Err.Error(), "Bring the host back, or take it out of DATABASE_URL: it cannot take over."))
		case cluster != "" && h.Cluster != "" && h.Cluster != cluster:
			found = append(found, s.finding(Error, h.Host+" is the server of another cluster (its system identifier differs)",
				"Take it out of DATABASE_URL, on every machine: a process that starts while the others are away would use it, and mail would be in two places."))
		case h.Cluster != "" && !h.Standby:
			primaries++
		}
	}
	if primaries > 1 {
		found = append(found, s.finding(Error, fmt.Sprintf("%d of them take writes", primaries), "One is from before a fail-over: make it a standby of the other, or take it away. What it takes is lost."))
	}
	if len(found) == 0 {
		found = append(found, s.ok(fmt.Sprintf("all %d", len(all))))
	}
	return found
}
