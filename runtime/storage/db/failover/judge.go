package failover

import (
	"fmt"
	"strings"
)

// Sighting is the last result for a host.
type Sighting struct {
	Host string // host:port

	Identity
	Err error // the host did not respond, or does not reveal its identity
}

// SplitError reports that several hosts accept writes.
type SplitError struct {
	Primaries []Sighting
}

func (e *SplitError) Error() string {
	names := make([]string, len(e.Primaries))
	oldest := e.Primaries[0]
	same := true
	for i, p := range e.Primaries {
		names[i] = fmt.Sprintf("%s (timeline %s)", p.Host, strings.TrimLeft(p.Timeline, "0"))
		same = same && p.Timeline == oldest.Timeline
		if p.Timeline < oldest.Timeline {
			oldest = p
		}
	}
	remedy := oldest.Host + " is from before a failover: stop it, or make it a standby of the other one"
	if same {
		remedy = "Stop the one that you want to discard, or make it a standby of the other one"
	}
	return fmt.Sprintf("%d hosts of DATABASE_URL accept writes for the same cluster: %s. Until this is resolved, "+
		"nothing is stored. %s", len(e.Primaries), strings.Join(names, " and "), remedy)
}

// Judge checks for several primaries of one cluster. The error is nil or a *SplitError.
func Judge(system string, all []Sighting) error {
	var primaries []Sighting
	started := map[string]bool{}
	for _, s := range all {
		if s.Err != nil || s.System != system || !s.Primary() || started[s.Started] {
			continue
		}
		started[s.Started] = true
		primaries = append(primaries, s)
	}
	if len(primaries) > 1 {
		return &SplitError{primaries}
	}
	return nil
}

// NewestTimeline returns the newest timeline of a cluster.
func NewestTimeline(system string, all []Sighting) (timeline string) {
	for _, s := range all {
		if s.Err == nil && s.System == system {
			timeline = max(timeline, s.Timeline)
		}
	}
	return timeline
}
