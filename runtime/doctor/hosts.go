package doctor

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/db"
)

// databaseHost is what one of DATABASE_URL says of itself.
type databaseHost struct {
	name    string // host:port
	cluster string // empty: it does not tell
	standby bool
	err     error // it cannot be used, not even as a standby
}

// hosts looks at every host of an address that names several.
func hosts(ctx context.Context, d *db.DB) []Finding {
	var all []databaseHost
	cluster, err := d.AskHosts(ctx, func(name, cluster string, standby bool, err error) {
		all = append(all, databaseHost{name, cluster, standby, err})
	})
	if err != nil {
		s := subject{"database.hosts", "every host of DATABASE_URL answers"}
		return []Finding{s.finding(Skipped, err.Error(), "Look at DATABASE_URL.")}
	}
	return judgeHosts(all, cluster)
}

// judgeHosts finds a host of another cluster before it matters: a process that starts while the right ones are
// away would use it.
func judgeHosts(all []databaseHost, cluster string) (found []Finding) {
	if len(all) < 2 {
		return nil
	}
	s := subject{"database.hosts", "the hosts of DATABASE_URL are one cluster: a primary, and standbys that follow it"}
	primaries := 0
	for _, h := range all {
		switch {
		case h.err != nil:
			found = append(found, s.finding(Warning, h.name+": "+h.err.Error(), "Bring the host back, or take it out of DATABASE_URL: it cannot take over."))
		case cluster != "" && h.cluster != "" && h.cluster != cluster:
			found = append(found, s.finding(Error, h.name+" is the server of another cluster (its system identifier differs)",
				"Take it out of DATABASE_URL, on every machine: a process that starts while the others are away would use it if it has tables of Postrider, and mail would be in two places."))
		case h.cluster != "" && !h.standby:
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
