package delivery

import (
	"testing"
	"time"
)

// The age of a released message counts from its release.
func TestAgeCountsFromRelease(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.send(t, simpleMessage("a@example.net"))
	f.Exec(t, `UPDATE emails SET created_at = created_at - interval '5 days'`)
	f.Exec(t, `UPDATE recipients SET created_at = created_at - interval '5 days'`)
	jobs := f.claimAll(t)
	if len(jobs) != 1 || jobs[0].age > time.Minute {
		t.Errorf("claimed %+v, want one job younger than a minute", jobs)
	}
}
