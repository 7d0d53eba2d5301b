package delivery

import (
	"testing"
	"time"
)

// A released message is as old as its release.
func TestAReleasedMessageIsFresh(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.send(t, simple("a@example.net"))
	f.Exec(t, `UPDATE emails SET created_at = created_at - interval '5 days'`)
	f.Exec(t, `UPDATE recipients SET created_at = created_at - interval '5 days'`)
	jobs := f.claimAll(t)
	if len(jobs) != 1 || jobs[0].age > time.Minute {
		t.Errorf("claimed %+v, want one of a fresh message", jobs)
	}
}
