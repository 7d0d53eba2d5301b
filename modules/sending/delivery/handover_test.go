package delivery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/handover"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// blockingPeer is a receiving server that replies once it is opened.
type blockingPeer struct {
	open  chan struct{}
	once  sync.Once
	mutex sync.Mutex
	seen  []string
}

func (p *blockingPeer) Deliver(ctx context.Context, e smtpclient.Envelope, _ []byte,
	beforeFinalDot func() error) smtpclient.Outcome {
	p.mutex.Lock()
	p.seen = append(p.seen, e.To)
	p.mutex.Unlock()
	select {
	case <-p.open:
	case <-ctx.Done():
		return smtpclient.Outcome{Kind: smtpclient.Temporary, Err: context.Cause(ctx)}
	}
	if err := beforeFinalDot(); err != nil {
		return smtpclient.Outcome{Kind: smtpclient.Temporary, Err: err}
	}
	return smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250, Reply: "250 Ok"}
}

func newBlockingPeer() *blockingPeer { return &blockingPeer{open: make(chan struct{})} }

func (p *blockingPeer) answer() { p.once.Do(func() { close(p.open) }) }

// reservesOnly is a node whose worker has reservations and makes no claims.
type reservesOnly struct{ numbered }

func (reservesOnly) AwaitClaim(stop <-chan struct{}) bool {
	<-stop
	return true
}

// newHandoverFixture returns a fixture whose messages are offered to its worker, which makes no claims.
func newHandoverFixture(t *testing.T, peer *blockingPeer, change ...func(*Params)) *fixture {
	t.Helper()
	f := newFixture(t, append([]func(*Params){func(p *Params) {
		p.Transport, p.Node = peer, reservesOnly{numbered{id: 7}}
	}}, change...)...)
	t.Cleanup(peer.answer) // before the worker stops
	f.offerTo(t, f.Service)
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.claimer.unseen.recordClaim(f.claimer.unseen.currentMark(), true)
	return f
}

// offerTo offers messages to a claimer when they are accepted.
func (f *fixture) offerTo(t *testing.T, claimer handover.Claimer) {
	t.Helper()
	var err error
	if f.accepting, err = sending.New(sending.Params{DB: f.DB, Bus: f.Bus, Accounts: f.Near, Domains: f.Near,
		Suppression: f.Near, Templates: f.Near, Quota: f.Near, Records: f.records, Idempotency: f.Idempotency,
		Signals: sendingtest.NoSignals{}, Claimer: claimer}); err != nil {
		t.Fatal(err)
	}
}

// receive accepts a message without waking the worker.
func (f *fixture) receive(t *testing.T, m sending.Message) string {
	t.Helper()
	receipt, err := f.accepting.Send(t.Context(), f.Caller(), sending.Request{Message: m})
	if err != nil {
		t.Fatal(err)
	}
	return receipt.ID
}

// An accepted recipient is stored as claimed, with its attempt, and delivered without a claim. This applies to
// both the single statement and the transaction.
func TestAcceptedRecipientsAreHandedOver(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]int{"statement": -1, "transaction": 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peer := newBlockingPeer()
			f := newHandoverFixture(t, peer)
			f.Near.Left = left
			id := f.receive(t, simpleMessage("a@example.net", "b@example.net"))
			_, recipients, attempts, _ := f.loadState(t, id)
			if len(recipients) != 2 || len(attempts) != 2 {
				t.Fatalf("%d recipients and %d attempts, want 2 of each in the transaction that stores the email",
					len(recipients), len(attempts))
			}
			for i, r := range recipients {
				left := time.Until(*r.DueAt)
				if r.State != recipient.StateQueued || r.Fence != 1 || r.Attempts != 1 || left <= 0 || left > claimLease {
					t.Errorf("recipient %+v, want it claimed for %s", r, claimLease)
				}
				a := attempts[i]
				if a.Outcome != nil || a.Fence != 1 || a.Number != 1 || a.Node == nil || *a.Node != 7 || a.Ahead {
					t.Errorf("attempt %+v, want an open one of node 7", a)
				}
			}
			expect.EventuallyWithin(t, 20*time.Second, "both deliveries run", func() bool {
				peer.mutex.Lock()
				defer peer.mutex.Unlock()
				return len(peer.seen) == 2
			})
			peer.answer()
			expect.EventuallyWithin(t, 20*time.Second, "the email is delivered", func() bool {
				e, _, _, _ := f.loadState(t, id)
				return e.Status == email.StatusDelivered
			})
			if _, _, attempts, _ := f.loadState(t, id); len(attempts) != 2 {
				t.Errorf("%d attempts, want one for each recipient", len(attempts))
			}
		})
	}
}

// Recipients that may not be delivered now, or not by this process, are stored as they were before: unclaimed and
// without an attempt.
func TestOtherRecipientsAreNotHandedOver(t *testing.T) {
	t.Parallel()
	const label = "198.51.100.7"
	for name, c := range map[string]struct {
		change  func(p *Params)
		prepare func(t *testing.T, f *fixture, m *sending.Message)
	}{
		"scheduled": {prepare: func(_ *testing.T, _ *fixture, m *sending.Message) {
			m.ScheduledAt = sendingtest.At(time.Hour)
		}},
		"expires": {prepare: func(_ *testing.T, _ *fixture, m *sending.Message) {
			m.ExpiresAt = sendingtest.At(time.Hour)
		}},
		"suppressed": {prepare: func(_ *testing.T, f *fixture, _ *sending.Message) {
			f.Near.Suppressed["bob@example.net"] = "bounced"
		}},
		"large": {prepare: func(_ *testing.T, _ *fixture, m *sending.Message) {
			m.Text = fmt.Sprintf("%*s", handover.MaxSize+1, "x")
		}},
		"the way belongs to another process": {change: func(p *Params) {
			p.Ways = &oneWay{Ways: p.Ways, label: label, place: outbound.OnOtherNode}
		}},
		"no process has the way": {change: func(p *Params) {
			p.Ways = &oneWay{Ways: p.Ways, label: label, place: outbound.Orphaned}
		}},
		"the address of the way warms up": {change: func(p *Params) { p.Ways = countedWays{p.Ways} }},
		"the lane is full": {
			change: func(p *Params) {
				p.Lanes = lane.New(lane.Config{Connections: 1, Smarthost: &lane.Set{Name: "peer", Own: true}})
			},
			prepare: func(t *testing.T, f *fixture, _ *sending.Message) {
				t.Helper()
				for range 2 { // the connection, and one ahead of it
					if _, ok := f.claimer.lanes.Reserve("", "example.net"); !ok {
						t.Fatal("the lane has no room")
					}
				}
			},
		},
		"recipients are parked in the lane": {prepare: func(_ *testing.T, f *fixture, _ *sending.Message) {
			f.claimer.parking.add([]string{laneLabel("", "example.net")})
		}},
		"recipients of the lane are in the common queue": {prepare: func(_ *testing.T, f *fixture, _ *sending.Message) {
			f.claimer.unseen.add([]string{laneLabel("", "example.net")})
		}},
		"the common queue was not read to its end": {prepare: func(_ *testing.T, f *fixture, _ *sending.Message) {
			f.claimer.unseen.addAll()
		}},
		"the account was suspended a moment ago": {change: func(p *Params) { p.Accounts = suspendedAccounts{p.Accounts} }},
		"the account cannot be read":             {change: func(p *Params) { p.Accounts = unreadableAccounts{} }},
		"no job may be claimed":                  {change: func(p *Params) { p.Node = barred{numbered{id: 7}} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes := []func(*Params){}
			if c.change != nil {
				changes = append(changes, c.change)
			}
			f := newHandoverFixture(t, newBlockingPeer(), changes...)
			m := simpleMessage("bob@example.net")
			if c.prepare != nil {
				c.prepare(t, f, &m)
			}
			id := f.receive(t, m)
			_, recipients, attempts, _ := f.loadState(t, id)
			if r := recipients[0]; r.Fence != 0 || r.Attempts != 0 || len(attempts) != 0 {
				t.Errorf("recipient %+v with attempts %+v, want it unclaimed", r, attempts)
			}
			if n := len(f.Lanes()); n > 0 && f.Lanes()[0].Reserved > 2 {
				t.Errorf("the lane has %d reservations", f.Lanes()[0].Reserved)
			}
		})
	}
}

// countedWays is a fake whose ways are all counted.
type countedWays struct{ Ways }

func (countedWays) IsCounted(string) bool { return true }

// suspendedAccounts is a fake whose accounts have been suspended since their messages were checked.
type suspendedAccounts struct{ Accounts }

func (s suspendedAccounts) Account(ctx context.Context, id string) (accounts.Account, error) {
	a, err := s.Accounts.Account(ctx, id)
	a.Suspended = true
	return a, err
}

// unreadableAccounts is a fake whose accounts cannot be read.
type unreadableAccounts struct{}

func (unreadableAccounts) Account(context.Context, string) (accounts.Account, error) {
	return accounts.Account{}, errors.New("not now")
}

// barred is a node that may not claim.
type barred struct{ numbered }

func (barred) AwaitClaim(stop <-chan struct{}) bool {
	<-stop
	return false
}

// A rolled-back transaction keeps no reservation and no place.
func TestRefusedMessagesReleaseTheirOffer(t *testing.T) {
	t.Parallel()
	f := newHandoverFixture(t, newBlockingPeer())
	f.Near.Left = 0
	for range 300 { // more than the worker has places
		if _, err := f.accepting.Send(t.Context(), f.Caller(),
			sending.Request{Message: simpleMessage("bob@example.net")}); !errors.Is(err, sendingtest.ErrCap) {
			t.Fatalf("Send() = %v, want the cap to refuse it", err)
		}
	}
	for _, l := range f.Lanes() {
		if l.Reserved != 0 {
			t.Errorf("lane %s has %d reservations after all messages were refused", l.Name, l.Reserved)
		}
	}
	f.Near.Left = -1
	id := f.receive(t, simpleMessage("bob@example.net"))
	if _, _, attempts, _ := f.loadState(t, id); len(attempts) != 1 {
		t.Error("the next message was not handed over")
	}
}

// If a process dies after it accepted messages, its claims are handed back like those of any other claim.
func TestHandedOverRecipientsOfADeadNodeAreHandedBack(t *testing.T) {
	t.Parallel()
	f := newHandoverFixture(t, newBlockingPeer())
	id := f.receive(t, simpleMessage("bob@example.net"))
	other := f.newNode(t, numbered{id: 8})
	if n, err := other.claimer.handBackClaimsOf(t.Context(), 7); err != nil || n != 1 {
		t.Fatalf("handed back %d recipients, %v; want 1", n, err)
	}
	jobs, err := other.claimer.claimJobs(t.Context(), 100, testLease)
	if err != nil || len(jobs) != 1 || jobs[0].emailID != id || jobs[0].attempt != 2 {
		t.Fatalf("the other node claimed %+v, %v; want the second attempt", jobs, err)
	}
	if diff := cmp.Diff(map[string]int{"unknown": 1, "open": 1}, f.countOutcomes(t)); diff != "" {
		t.Errorf("outcomes of attempts differ (-want +got):\n%s", diff)
	}
}

// A process that stops releases the recipients that it has not begun.
func TestStopHandsBackHandedOverRecipients(t *testing.T) {
	t.Parallel()
	f := newHandoverFixture(t, newBlockingPeer())
	var stopped sync.WaitGroup
	f.offerTo(t, stopsAtCommit{f: f, stopped: &stopped})
	id := f.receive(t, simpleMessage("bob@example.net"))
	stopped.Wait()
	_, recipients, attempts, _ := f.loadState(t, id)
	if r := recipients[0]; r.Attempts != 0 || r.DueAt == nil || time.Until(*r.DueAt) > 0 || len(attempts) != 0 {
		t.Errorf("recipient %+v with attempts %+v, want it due as if it had not been claimed", r, attempts)
	}
}

// stopsAtCommit stops the worker between the offer and the commit.
type stopsAtCommit struct {
	f       *fixture
	stopped *sync.WaitGroup
}

func (s stopsAtCommit) Offer(ctx context.Context, list []handover.Recipient) *handover.Offer {
	offer := s.f.Offer(ctx, list)
	s.stopped.Go(func() {
		if err := s.f.worker.Stop(context.WithoutCancel(ctx)); err != nil {
			panic(err)
		}
	})
	for r := s.f.worker.Reserve(1); r != nil; r = s.f.worker.Reserve(1) { // until the stop has begun
		r.Begin(nil)
	}
	return offer
}

// If the commit is not confirmed, the recipients may have been stored as claimed. The next claim undoes that, so that
// they are delivered immediately and no attempt counts as unknown.
func TestUnconfirmedHandoversAreUndone(t *testing.T) {
	t.Parallel()
	f := newHandoverFixture(t, newBlockingPeer())
	f.offerTo(t, unconfirmed{f.Service})
	id := f.receive(t, simpleMessage("bob@example.net"))
	if _, _, attempts, _ := f.loadState(t, id); len(attempts) != 1 {
		t.Fatalf("%d attempts, want the recipient stored as claimed", len(attempts))
	}
	jobs := f.claimAll(t)
	_, _, attempts, _ := f.loadState(t, id)
	if len(jobs) != 1 || jobs[0].attempt != 1 || len(attempts) != 1 || attempts[0].Outcome != nil {
		t.Errorf("claimed %+v with attempts %+v, want the first attempt", jobs, attempts)
	}
	if f.claimAll(t); f.Count(t, "attempts") != 1 {
		t.Error("a claim was undone twice")
	}
}

// unconfirmed abandons each offer when it is begun.
type unconfirmed struct{ handover.Claimer }

func (u unconfirmed) Offer(ctx context.Context, list []handover.Recipient) *handover.Offer {
	offer := u.Claimer.Offer(ctx, list)
	claims := make([]*handover.Claim, len(list))
	for i := range list {
		claims[i] = offer.Claim(i)
	}
	return handover.NewOffer(claims, func([]handover.Stored, bool) { offer.Abandon() })
}
