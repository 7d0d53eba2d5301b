package delivery

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// oneWay chooses one source address for all mail.
type oneWay struct {
	Ways
	label string
	place outbound.Routing
}

func (o *oneWay) Choose(_ context.Context, questions []outbound.Question) ([]smtpclient.Way, error) {
	ways := make([]smtpclient.Way, len(questions))
	for i := range ways {
		ways[i].Label = o.label
	}
	return ways, nil
}

func (o *oneWay) RoutingOf(label string) outbound.Routing {
	if label == o.label {
		return o.place
	}
	return outbound.Open
}

// wakeCounter counts wake-ups by channel.
type wakeCounter map[string]int

func (c wakeCounter) Wake(channel string)                      { c[channel]++ }
func (wakeCounter) Subscribe(string) (<-chan struct{}, func()) { return nil, func() {} }

// A recipient whose way out another process has is parked in its lane without an attempt, and the other
// process is woken. It stays there until that process, or one that gains the way, draws it.
func TestMailForAnotherProcessIsParked(t *testing.T) {
	t.Parallel()
	ways, signals := &oneWay{label: "198.51.100.7", place: outbound.OnOtherNode}, wakeCounter{}
	f := newFixture(t, func(p *Params) { ways.Ways, p.Ways, p.Signals = p.Ways, ways, signals })
	id := f.send(t, simpleMessage("r@away.test"))
	for range 2 { // and again, when this process searches for lanes that it does not track
		if jobs := f.claimAll(t); len(jobs) != 0 {
			t.Fatalf("claimed %+v, want none: another process has the way", jobs)
		}
		f.claimer.parking.looked = time.Time{}
	}
	_, recipients, attempts, _ := f.loadState(t, id)
	if r := recipients[0]; r.State != recipient.StateQueued || r.Attempts != 0 || r.Lane == nil ||
		*r.Lane != "198.51.100.7 away.test" || len(attempts) != 0 {
		t.Errorf("recipient %+v, attempts %+v, want it parked without an attempt", r, attempts)
	}
	if signals[parkedChannel] != 1 || f.claimer.parking.size() != 0 {
		t.Errorf("other processes were woken %d times, want once; this process tracks the lane: %t, want false",
			signals[parkedChannel], f.claimer.parking.size() != 0)
	}
	if lanes := f.Lanes(); len(lanes) != 0 {
		t.Errorf("lanes %+v, want none", lanes)
	}
	ways.place = outbound.Open // as in the other process
	f.claimer.parking.looked = time.Time{}
	jobs := f.claimAll(t)
	if len(jobs) != 1 || jobs[0].attempt != 1 || jobs[0].way.Label != "198.51.100.7" {
		t.Fatalf("the other process claimed %+v, want the first attempt", jobs)
	}
	// The machine loses the address before the attempt, so no attempt counts.
	f.settleWith(t, jobs, smtpclient.Outcome{Kind: smtpclient.Temporary, Phase: smtpclient.PhaseConnect,
		Err: fmt.Errorf("dial: %w", errors.Join(smtpclient.ErrAddressGone))})
	_, recipients, attempts, _ = f.loadState(t, id)
	if r := recipients[0]; r.State != recipient.StateQueued || r.Attempts != 0 || r.Lane != nil || len(attempts) != 0 {
		t.Errorf("recipient %+v, attempts %+v, want it in the common queue without an attempt", r, attempts)
	}
}

// A recipient that waits for an address that no process has leaves its lane once another way is chosen for
// it, and stays there otherwise.
func TestMailForAnUnboundAddressIsRerouted(t *testing.T) {
	t.Parallel()
	ways := &oneWay{label: "198.51.100.7", place: outbound.Orphaned}
	f := newFixture(t, func(p *Params) { ways.Ways, p.Ways = p.Ways, ways })
	f.send(t, simpleMessage("r@gone.test"))
	for range 3 {
		if jobs := f.claimAll(t); len(jobs) != 0 {
			t.Fatalf("claimed %+v by a way that no process has", jobs)
		}
	}
	if n := f.countParked(t, "198.51.100.7 gone.test"); n != 1 {
		t.Errorf("%d recipients are in the lane, want 1", n)
	}
	ways.label, ways.place = "198.51.100.8", outbound.Open
	f.claimer.parking.looked = time.Time{}
	if jobs := f.claimAll(t); len(jobs) != 1 || jobs[0].way.Label != "198.51.100.8" || jobs[0].attempt != 1 {
		t.Errorf("claimed %+v, want its first attempt by the other address", jobs)
	}
}

// A recipient that waits for an address that no process has is postponed after a while, with the
// reason, as in a paused lane.
func TestMailForALostAddressIsPostponed(t *testing.T) {
	t.Parallel()
	ways := &oneWay{label: "198.51.100.7", place: outbound.Unroutable}
	f := newFixture(t, func(p *Params) { ways.Ways, p.Ways = p.Ways, ways })
	id := f.send(t, simpleMessage("r@gone.test"))
	for range 2 {
		if jobs := f.claimAll(t); len(jobs) != 0 {
			t.Fatalf("claimed %+v, want none yet", jobs)
		}
	}
	f.Exec(t, `UPDATE recipients SET due_at = due_at - interval '6 minutes'`)
	f.claimer.parking.putOff = f.claimer.parking.putOff.Add(-untriedEvery)
	jobs := f.claimAll(t)
	if len(jobs) != 1 {
		t.Fatalf("claimed %+v, want the recipient that has waited too long", jobs)
	}
	f.settleWith(t, jobs, f.deliver(t.Context(), jobs[0], &worker.Lease{}))
	_, recipients, attempts, facts := f.loadState(t, id)
	if r := recipients[0]; r.State != recipient.StateDeferred ||
		*r.Diagnostic != "not tried: no running process has the source address 198.51.100.7" || len(attempts) != 1 ||
		facts[len(facts)-1] != "email.delivery_delayed" {
		t.Errorf("recipient %+v, attempts %+v, facts %v", r, attempts, facts)
	}
	if len(f.Peer.Seen) != 0 {
		t.Error("an attempt was made")
	}
}
