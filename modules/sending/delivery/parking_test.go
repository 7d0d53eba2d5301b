package delivery

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// countParked counts the parked recipients of a lane.
func (f *fixture) countParked(t *testing.T, label string) int {
	t.Helper()
	n, err := f.DB.Ent.Recipient.Query().Where(recipient.Lane(label)).Count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// toMX uses lanes of mail hosts.
func (f *fixture) toMX() {
	f.claimer.lanes = lane.New(lane.Config{})
}

func (f *fixture) sendMany(t *testing.T, n int, domain string) {
	t.Helper()
	for i := range n {
		f.send(t, simpleMessage(fmt.Sprintf("r%d@%s", i, domain)))
	}
}

func countDestinations(jobs []Job) map[string]int {
	counts := map[string]int{}
	for _, j := range jobs {
		counts[j.destination]++
	}
	return counts
}

func TestFullLaneDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.toMX()
	room := f.claimer.lanes.Capacity("", "slow.test")
	f.sendMany(t, room+30, "slow.test")
	f.sendMany(t, 1, "other.test")
	claimed, err := f.claimer.claimJobs(t.Context(), room+10, time.Minute)
	if err != nil || countDestinations(claimed)["slow.test"] != room {
		t.Fatalf("claimed %v of a lane with room for %d, %v", countDestinations(claimed), room, err)
	}
	// The recipients before the other destination's are parked, and then its recipient is claimed.
	other, err := f.claimer.claimJobs(t.Context(), 10, time.Minute)
	if err != nil || countDestinations(other)["other.test"] != 1 || len(other) != 1 {
		t.Fatalf("claimed %v, %v", countDestinations(other), err)
	}
	if n := f.countParked(t, " slow.test"); n != 30 {
		t.Errorf("%d recipients are parked, want 30", n)
	}
	// Two reservations end, and two of the parked recipients are drawn.
	for _, j := range claimed[:2] {
		f.claimer.releaseHeld(j)
	}
	drawn, err := f.claimer.claimJobs(t.Context(), 10, time.Minute)
	if err != nil || len(drawn) != 2 || f.countParked(t, " slow.test") != 28 {
		t.Errorf("drew %v, %d left, %v", countDestinations(drawn), f.countParked(t, " slow.test"), err)
	}
	if attempts := f.Count(t, "attempts"); attempts != room+3 {
		t.Errorf("%d attempts, want one for each of the %d deliveries", attempts, room+3)
	}
}

// The operator sees where a process sends, and why it does not, but not to whom.
func TestLanesAreShownWithoutNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.toMX()
	for _, name := range []string{"b.test", "a.test"} {
		pass, err := f.claimer.lanes.Enter(t.Context(), "", name, lane.Set{Name: "mx." + name})
		if err != nil {
			t.Fatal(err)
		}
		pass.Leave(lane.Feedback{Throttled: name == "a.test", Delivered: name == "b.test",
			Reason: "421 4.7.0 The mailbox of bob is busy"})
	}
	got := f.Lanes()
	if len(got) != 2 || got[0].Name != "mx.a.test" || got[0].Reason != "421 4.7.0" || got[0].PausedUntil.IsZero() ||
		got[0].Throttled != 1 || got[1].Name != "mx.b.test" || got[1].Delivered != 1 || got[1].Reason != "" {
		t.Errorf("lanes: %+v", got)
	}
}

// Another process parked them, or this one did before a restart.
func TestUntrackedParkedRowsAreFound(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.toMX()
	f.sendMany(t, 3, "slow.test")
	f.Exec(t, `UPDATE recipients SET lane = ' slow.test'`)
	f.send(t, simpleMessage("held@slow.test"))
	f.Exec(t, `UPDATE recipients SET held_by = 'operator' WHERE address = 'held@slow.test'`)
	if got := f.claimAll(t); len(got) != 3 {
		t.Errorf("claimed %v, want the three that are not held", countDestinations(got))
	}
}

func pauseLane(t *testing.T, r *lane.Registry, destination string) {
	t.Helper()
	for range 100 {
		pass, err := r.Enter(t.Context(), "", destination, lane.NewSet("mx."+destination))
		if errors.Is(err, lane.ErrNoRoom) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		pass.Leave(lane.Feedback{Unreachable: true, Reason: "connection refused"})
	}
	if _, _, paused := r.PausedUntil("", destination); !paused {
		t.Fatal("the lane is not paused")
	}
}

// A dead destination is not contacted for each of its messages, but senders are notified of the delay and
// retries end.
func TestPausedLanePostponesMailThatWaitsTooLong(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.toMX()
	pauseLane(t, f.claimer.lanes, "dead.test")
	id := f.send(t, simpleMessage("r@dead.test"))
	if got := f.claimAll(t); len(got) != 0 || f.countParked(t, " dead.test") != 1 {
		t.Fatalf("claimed %v", countDestinations(got))
	}
	if got := f.claimAll(t); len(got) != 0 {
		t.Fatalf("claimed %v before it had waited too long", countDestinations(got))
	}
	f.Exec(t, `UPDATE recipients SET due_at = now() - interval '6 minutes'`)
	f.claimer.parking.putOff = time.Time{}
	jobs := f.claimAll(t)
	if len(jobs) != 1 || jobs[0].untried == "" {
		t.Fatalf("claimed %+v", jobs)
	}
	lease := &worker.Lease{}
	f.settleWith(t, jobs, f.deliver(t.Context(), jobs[0], lease))
	if len(f.Peer.Seen) != 0 {
		t.Error("an attempt was made")
	}
	_, recipients, attempts, facts := f.loadState(t, id)
	if recipients[0].State != recipient.StateDeferred ||
		*recipients[0].Diagnostic != "not tried: connections to this destination are suspended: connection refused" {
		t.Errorf("recipient %+v", recipients[0])
	}
	if len(attempts) != 1 || attempts[0].Phase != string(smtpclient.PhaseWait) ||
		facts[len(facts)-1] != "email.delivery_delayed" {
		t.Errorf("attempts %+v, facts %v", attempts, facts)
	}
}

// Once the mail hosts are known, the lane may turn out to be full. That does not count as an attempt.
func TestTurnedAwayDeliveryIsNotAnAttempt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.toMX()
	id := f.send(t, simpleMessage("r@busy.test"))
	jobs := f.claimAll(t)
	f.settleWith(t, jobs, smtpclient.Outcome{Kind: smtpclient.Temporary, Phase: smtpclient.PhaseWait,
		Err: fmt.Errorf("enter: %w", lane.ErrNoRoom)})
	_, recipients, attempts, facts := f.loadState(t, id)
	if r := recipients[0]; r.State != recipient.StateQueued || r.Attempts != 0 || *r.Lane != " busy.test" ||
		len(attempts) != 0 || len(facts) != 1 {
		t.Errorf("recipient %+v, attempts %+v, facts %v", r, attempts, facts)
	}
	f.claimer.releaseHeld(jobs[0])
	if again := f.claimAll(t); len(again) != 1 || again[0].attempt != 1 {
		t.Errorf("claimed again: %+v", again)
	}
}

func TestBlockedMailIsRetriedThroughTheSmarthost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Near.Fallback = true
	id := f.send(t, simpleMessage("r@picky.test"))
	f.settleWith(t, f.claimAll(t), smtpclient.Outcome{Kind: smtpclient.Permanent, Phase: smtpclient.PhaseGreeting,
		Code: 554, EnhancedCode: "5.7.1",
		Reply: "554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.example.org",
		Err:   errors.New("blocked")})
	jobs := f.claimAll(t)
	if len(jobs) != 1 || jobs[0].via != outbound.ViaFallback || jobs[0].way.Label != outbound.ViaFallback ||
		jobs[0].attempt != 2 {
		t.Fatalf("claimed %+v", jobs)
	}
	// It is not diverted twice.
	f.settleWith(t, jobs, smtpclient.Outcome{Kind: smtpclient.Permanent, Phase: smtpclient.PhaseRcpt, Code: 554,
		EnhancedCode: "5.7.1",
		Reply:        "554 5.7.1 Client host blocked using zen.example.org", Err: errors.New("blocked")})
	_, recipients, attempts, facts := f.loadState(t, id)
	if recipients[0].State != recipient.StateFailed || len(attempts) != 2 || attempts[0].Class != "block" ||
		len(facts) != 2 {
		t.Errorf("recipient %+v, attempts %+v, facts %v", recipients[0], attempts, facts)
	}
}

func TestExpiredMessageIsNotDelivered(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := simpleMessage("r@example.net")
	m.ExpiresAt = sendingtest.At(30 * time.Minute)
	id := f.send(t, m)
	f.settleWith(t, f.claimAll(t), smtpclient.Outcome{Kind: smtpclient.Temporary, Phase: smtpclient.PhaseRcpt,
		Code: 451, Reply: "451 later", Err: errors.New("later")})
	// The next attempt is due at the time of the retry, but not after the expiry.
	f.Exec(t, `UPDATE emails SET expires_at = now() + interval '10 seconds'`)
	f.MakeDue(t)
	f.settleWith(t, f.claimAll(t), smtpclient.Outcome{Kind: smtpclient.Temporary, Phase: smtpclient.PhaseRcpt,
		Code: 451, Reply: "451 later", Err: errors.New("later")})
	if n := f.Count(t, "recipients WHERE due_at <= now() + interval '10 seconds'"); n != 1 {
		t.Error("the next attempt is after the expiry")
	}
	f.Exec(t, `UPDATE emails SET expires_at = now()`)
	f.MakeDue(t)
	jobs := f.claimAll(t)
	f.settleWith(t, jobs, f.deliver(t.Context(), jobs[0], &worker.Lease{}))
	e, recipients, _, facts := f.loadState(t, id)
	if string(e.Status) != "failed" || recipients[0].State != recipient.StateFailed ||
		facts[len(facts)-1] != "email.failed" {
		t.Errorf("email %s, recipient %+v, facts %v", e.Status, recipients[0], facts)
	}
}
