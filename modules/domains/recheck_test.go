package domains

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/work/event"
)

func TestDueDomainsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d, broken := w.add(t, w.ada, "example.com"), w.verified(t, w.ada, "example.org")
	seeded, err := w.EnsureSeeded(t.Context(), w.eve, "dev.test")
	if err != nil {
		t.Fatal(err)
	}
	w.publish(t, d)
	w.zone.Remove("example.org")
	w.exec(t, `UPDATE domains SET due_at = now()`)
	for _, s := range []*Service{w.Service, w.process(t)} { // two processes share the work
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, 10*time.Second, func() bool {
		return w.count(t,
			`name = 'example.com' AND status = 'verified' OR name = 'example.org' AND status = 'temporary_failure'`) == 2
	})
	if diff := cmp.Diff([]event.Type{event.DomainVerified}, w.publishedFacts(t, d)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]event.Type{event.DomainVerified, event.DomainTemporaryFailure},
		w.publishedFacts(t, broken)); diff != "" {
		t.Error(diff)
	}
	if n := w.zone.Count("_service.dev.test", ""); n != 0 {
		t.Errorf("the seeded domain %s was looked up", seeded.ID)
	}
	if due := w.count(t, `due_at <= now() AND NOT seeded`); due != 0 {
		t.Errorf("%d domains are still due", due)
	}
}

// claimOne claims the domain like a worker does.
func (w *world) claimOne(t testing.TB, d *ent.Domain) job {
	t.Helper()
	w.exec(t, `UPDATE domains SET due_at = now() WHERE id = $1`, d.ID)
	jobs, err := w.checks.claim(t.Context(), 10, time.Minute)
	if err != nil || len(jobs) != 1 || jobs[0].domain.ID != d.ID {
		t.Fatalf("claiming the only due domain returned %+v, %v, want %s", jobs, err, d.ID)
	}
	return jobs[0]
}

func TestCheckWithoutLeaseChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	slow := w.claimOne(t, d)
	w.zone.Remove("_service.example.com")
	stale := w.checks.run(t.Context(), slow, nil) // found the records broken
	if stale.err != nil {
		t.Fatal(stale.err)
	}
	w.publish(t, d)
	for name, overtake := range map[string]func(){
		"another worker": func() { w.claimOne(t, d) },
		"a user":         func() { w.verify(t, d) },
	} {
		overtake()
		if err := w.checks.settle(t.Context(), []worker.Result[job, checked]{{Job: slow, Value: stale}}); err != nil {
			t.Fatal(err)
		}
		if now, err := w.Get(t.Context(), w.ada, d.ID); err != nil || now.Status != "verified" {
			t.Errorf("overtaken by %s, the check left the status %s, %v", name, now.Status, err)
		}
	}
}

func TestSettlingTwiceHasOneEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.verified(t, w.ada, "example.com")
	w.zone.Remove("_service.example.com")
	mine := w.claimOne(t, d)
	results := []worker.Result[job, checked]{{Job: mine, Value: w.checks.run(t.Context(), mine, nil)}}
	for range 2 { // the response to the first call was lost
		if err := w.checks.settle(t.Context(), results); err != nil {
			t.Fatal(err)
		}
	}
	want := []event.Type{event.DomainVerified, event.DomainTemporaryFailure}
	if diff := cmp.Diff(want, w.publishedFacts(t, d)); diff != "" {
		t.Error(diff)
	}
}

func TestReleasedDomainIsDueAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.add(t, w.ada, "example.com")
	mine := w.claimOne(t, d)
	if jobs, err := w.checks.claim(t.Context(), 10, time.Minute); err != nil || len(jobs) != 0 {
		t.Fatalf("claiming a claimed domain returned %+v, %v", jobs, err)
	}
	if err := w.checks.release(t.Context(), []job{mine}); err != nil {
		t.Fatal(err)
	}
	jobs, err := w.checks.claim(t.Context(), 10, time.Minute)
	if err != nil || len(jobs) != 1 || jobs[0].fence <= mine.fence {
		t.Errorf("claiming the released domain returned %+v, %v, want it with a fence above %d", jobs, err, mine.fence)
	}
}

func TestLostClaimDoesNotBlockBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hers := w.add(t, w.eve, "example.com")
	w.verified(t, w.ada, "example.com")
	w.publishBeside(t, hers)
	other := w.add(t, w.eve, "example.org")
	w.publish(t, other)
	w.exec(t, `UPDATE domains SET due_at = now() WHERE account_id = $1`, w.eve)
	jobs, err := w.checks.claim(t.Context(), 10, time.Minute)
	if err != nil || len(jobs) != 2 {
		t.Fatalf("claiming Eve's two domains returned %+v, %v, want both", jobs, err)
	}
	var results []worker.Result[job, checked]
	for _, j := range jobs {
		results = append(results, worker.Result[job, checked]{Job: j, Value: w.checks.run(t.Context(), j, nil)})
	}
	if err := w.checks.settle(t.Context(), results); err != nil {
		t.Fatal(err)
	}
	for d, want := range map[*ent.Domain]string{hers: "pending", other: "verified"} {
		now, err := w.Get(t.Context(), w.eve, d.ID)
		if err != nil || string(now.Status) != want || w.states(now) != "vvvvv" {
			t.Errorf("after its check, the domain %s is %s with records %s, %v, want %s with all records verified",
				now.Name, now.Status, w.states(now), err, want)
		}
	}
}
