package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/failover"
)

// hostsSubject is the subject for the hosts of an address with several hosts.
var hostsSubject = subject{"database.hosts", "the hosts of DATABASE_URL are one cluster: a primary and its standbys"}

const doAboutSplit = "Stop the obsolete server (the one from before the failover, on the older timeline), or make it a standby with pg_rewind. Every process responds with 503 until then, because mail would be split between two servers."

// UnusableFindings returns the findings for a database that cannot be queried.
func UnusableFindings(err error) []Finding {
	var split *failover.SplitError
	if errors.As(err, &split) {
		return []Finding{hostsSubject.finding(Error, split.Error(), doAboutSplit)}
	}
	return []Finding{subject{"database", "the database responds"}.finding(Error, err.Error(),
		"Start the database, and check DATABASE_URL.")}
}

// checkHosts checks every host of an address with several hosts.
func checkHosts(ctx context.Context, d *db.DB) []Finding {
	all, system, err := d.AskHosts(ctx)
	if err != nil {
		return []Finding{hostsSubject.finding(Skipped, err.Error(), "Check DATABASE_URL.")}
	}
	return judgeHosts(all, system)
}

// judgeHosts detects a host of another cluster, or from before a failover, before it causes harm: a process
// that starts while the right hosts are down would use it.
func judgeHosts(all []failover.Sighting, system string) (found []Finding) {
	if len(all) < 2 {
		return nil
	}
	s, newest := hostsSubject, failover.NewestTimeline(system, all)
	split := failover.Judge(system, all)
	if split != nil {
		found = append(found, s.finding(Error, split.Error(), doAboutSplit))
	}
	for _, h := range all {
		switch {
		case errors.Is(h.Err, failover.ErrHidden):
		case h.Err != nil:
			found = append(found, s.finding(Warning, h.Host+": "+h.Err.Error(),
				"Restore the host, or remove it from DATABASE_URL: it cannot take over."))
		case system != "" && h.System != system:
			found = append(found, s.finding(Error, h.Host+
				" is the server of another cluster (its system identifier differs)",
				"Remove it from DATABASE_URL on every machine: a process that starts while the others are down would use it if it has Postrider tables, and mail would be split between two servers."))
		case split == nil && h.Primary() && h.Timeline < newest:
			found = append(found, s.finding(Error, h.Host+
				" accepts writes and is from before a failover (another host is on a newer timeline)",
				"Start the new primary, and make this one a standby of it: nothing is stored on it until then."))
		}
	}
	if len(found) == 0 {
		found = append(found, s.ok(fmt.Sprintf("all %d", len(all))))
	}
	return found
}
