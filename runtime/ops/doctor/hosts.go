package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/failover"
)

// hostsSubject is the subject for the hosts of an address that names several.
var hostsSubject = subject{"database.hosts", "the hosts of DATABASE_URL are one cluster: a primary, and standbys that follow it"}

const doAboutSplit = "Stop the server that is to be given up (the one from before the fail-over, on the older timeline), or make it a standby with pg_rewind. Every process answers 503 until then, because mail would be in two places."

// Unusable returns the findings for a database that cannot be queried.
func Unusable(err error) []Finding {
	var split *failover.SplitError
	if errors.As(err, &split) {
		return []Finding{hostsSubject.finding(Error, split.Error(), doAboutSplit)}
	}
	return []Finding{subject{"database", "the database answers"}.finding(Error, err.Error(), "Start the database, and look at DATABASE_URL.")}
}

// checkHosts checks every host of an address that names several.
func checkHosts(ctx context.Context, d *db.DB) []Finding {
	all, system, err := d.AskHosts(ctx)
	if err != nil {
		return []Finding{hostsSubject.finding(Skipped, err.Error(), "Look at DATABASE_URL.")}
	}
	return judgeHosts(all, system)
}

// judgeHosts detects a host of another cluster, or from before a failover, before it matters: a process
// that starts while the right hosts are down would use it.
func judgeHosts(all []failover.Sighting, system string) (found []Finding) {
	if len(all) < 2 {
		return nil
	}
	s, newest := hostsSubject, failover.Newest(system, all)
	split := failover.Judge(system, all)
	if split != nil {
		found = append(found, s.finding(Error, split.Error(), doAboutSplit))
	}
	for _, h := range all {
		switch {
		case errors.Is(h.Err, failover.ErrHidden):
		case h.Err != nil:
			found = append(found, s.finding(Warning, h.Host+": "+h.Err.Error(), "Bring the host back, or take it out of DATABASE_URL: it cannot take over."))
		case system != "" && h.System != system:
			found = append(found, s.finding(Error, h.Host+" is the server of another cluster (its system identifier differs)",
				"Take it out of DATABASE_URL, on every machine: a process that starts while the others are away would use it if it has tables of Postrider, and mail would be in two places."))
		case split == nil && h.Primary() && h.Timeline < newest:
			found = append(found, s.finding(Error, h.Host+" takes writes and is from before a fail-over (another host is on a newer timeline)",
				"Start the new primary, and make this one a standby of it: nothing is stored on it meanwhile."))
		}
	}
	if len(found) == 0 {
		found = append(found, s.ok(fmt.Sprintf("all %d", len(all))))
	}
	return found
}
