package delivery

import (
	"errors"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

func TestMailOfSuspendedAccountsWaits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.send(t, simpleMessage("a@example.net", "b@example.net"))
	f.Near.Owner.Suspended = true
	begin := time.Now()
	if jobs := f.claimAll(t); len(jobs) != 0 {
		t.Fatalf("mail of a suspended account was claimed: %+v", jobs)
	}
	e, recipients, attempts, types := f.loadState(t, id)
	if e.Status != "sent" || len(attempts) != 0 || len(types) != 1 || recipients[0].Attempts != 0 {
		t.Errorf("status %s, attempts %+v, facts %v, recipient %+v", e.Status, attempts, types, recipients[0])
	}
	if wait := time.Until(*recipients[0].DueAt); wait < 59*time.Second-time.Since(begin) || wait > 61*time.Second {
		t.Errorf("due in %s, want a minute", wait)
	}
	f.Near.Owner.Suspended = false
	f.MakeDue(t)
	f.settleWith(t, f.claimAll(t), smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250})
	if e, _, attempts, _ := f.loadState(t, id); e.Status != "delivered" || len(attempts) != 2 ||
		attempts[0].Number != 1 {
		t.Errorf("after the account was resumed: %s %+v", e.Status, attempts)
	}
}

func TestClaimIsReturnedWhenAccountLookupFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.send(t, simpleMessage("bob@example.net"))
	f.Near.OwnerErr = errors.New("not now")
	if jobs, err := f.claimer.claimJobs(t.Context(), 10, time.Minute); err == nil || len(jobs) != 0 {
		t.Errorf("claimed %+v, %v", jobs, err)
	}
	f.Near.OwnerErr = nil
	if jobs := f.claimAll(t); len(jobs) != 1 || jobs[0].attempt != 1 {
		t.Errorf("claimed again: %+v", jobs)
	}
	if _, _, attempts, _ := f.loadState(t, id); len(attempts) != 1 {
		t.Errorf("attempts: %+v", attempts)
	}
}
