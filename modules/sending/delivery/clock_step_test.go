package delivery

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
)

// The database clock was an hour or a day ahead and stepped back. Recipients that were accepted, parked,
// claimed or postponed meanwhile must not wait until that time.
func TestRecipientsAreDueAfterTheClockStepsBack(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Hour, 24 * time.Hour} {
		t.Run(step.String(), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, onNode(numbered{id: 7}, 10))
			f.neverSearch()
			for _, name := range []string{"new", "parked", "claimed", "retried", "later", "scheduled"} {
				f.send(t, simpleMessage(name+"@"+name+".test"))
			}
			claimed := f.claimAll(t)
			var keep []Job
			for _, j := range claimed {
				if !slices.Contains([]string{"claimed.test", "retried.test", "later.test"}, j.destination) {
					keep = append(keep, j)
				}
			}
			if err := f.claimer.releaseJobs(t.Context(), keep); err != nil {
				t.Fatal(err)
			}
			ahead := fmt.Sprintf("interval '%d seconds'", int(step.Seconds()))
			for _, statement := range []string{
				`UPDATE recipients SET due_at = now() + ` + ahead + `, queued_at = now() + ` + ahead + ` WHERE destination IN ('new.test', 'parked.test')`,
				`UPDATE recipients SET lane = ' parked.test' WHERE destination = 'parked.test'`,
				`UPDATE recipients SET due_at = now() + ` + ahead + ` + interval '12 seconds' WHERE destination = 'claimed.test'`,
				`UPDATE attempts SET outcome = 'deferred', finished_at = now() + ` + ahead +
					` FROM recipients r WHERE r.id = recipient_id AND destination IN ('retried.test', 'later.test')`,
				`UPDATE recipients SET state = 'deferred', fence = fence + 1, due_at = now() + ` + ahead +
					` + interval '1 minute' WHERE destination = 'retried.test'`,
				`UPDATE recipients SET state = 'deferred', fence = fence + 1, attempts = 2, due_at = now() + interval '4 minutes' WHERE destination = 'later.test'`,
				`UPDATE recipients SET due_at = now() + interval '50 seconds' WHERE destination = 'scheduled.test'`, // postponed, as for a suspended account
			} {
				f.Exec(t, statement)
			}
			if jobs := f.claimAll(t); len(jobs) != 0 {
				t.Fatalf("claimed %v before the repair, want none", countDestinations(jobs))
			}
			rows, err := f.repairDueTimes(t.Context(), clockstep.Step{})
			if err != nil || rows != 4 {
				t.Fatalf("repaired %d recipients, %v; want 4", rows, err)
			}
			if n, err := f.repairDueTimes(t.Context(), clockstep.Step{}); err != nil || n != 0 {
				t.Errorf("repaired %d recipients again, %v; want none", n, err)
			}
			f.claimer.parking.looked = time.Time{}
			if got := countDestinations(f.claimAll(t)); len(got) != 2 || got["new.test"] != 1 ||
				got["parked.test"] != 1 {
				t.Errorf("claimed %v, want the recipients that were never tried", got)
			}
			// The others become due when their lease would end, unless a process hands them back.
			late, err := db.All(t.Context(), f.DB.SQL, db.Value[string],
				`SELECT destination FROM recipients WHERE due_at BETWEEN now() AND now() + interval '12 seconds' ORDER BY 1`)
			if err != nil || !slices.Equal(late, []string{"claimed.test", "retried.test"}) {
				t.Errorf("recipients due within a lease: %v, %v; want the claimed one and the tried one", late, err)
			}
			if n, err := f.claimer.handBackClaimsOf(t.Context(), 7); err != nil || n != 3 {
				t.Errorf("handed back %d recipients of the claiming process, %v; want 1 claimed before the step and 2 after", n, err)
			}
			if n := f.Count(t, "recipients WHERE queued_at > now()"); n != 0 {
				t.Errorf("%d recipients have queued_at in the future", n)
			}
		})
	}
}
