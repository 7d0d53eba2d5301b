// Package rooms builds the packages of module sending for tests and lets the tests drive them.
package rooms

import (
	"context"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/bodies"
	"github.com/postrider/postrider/modules/sending/compose"
	"github.com/postrider/postrider/modules/sending/delivery"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/returnpath"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/blob"
)

// Harness contains accepting, delivery and records over one database. No worker runs.
type Harness struct {
	*sendingtest.Parts

	Sending  *sending.Service
	Delivery *delivery.Service
	Records  *records.Service
	Composer *compose.Composer
	Mover    *bodies.Service // moves bodies to the object store, if there is one

	work worker.Queue[delivery.Job, smtpclient.Outcome]
}

// New returns a new Harness, which is stopped when the test ends.
func New(t *testing.T) *Harness {
	t.Helper()
	return WithObjects(t, nil, bodies.Config{})
}

// WithObjects returns a new Harness with an object store.
func WithObjects(t *testing.T, objects blob.Store, c bodies.Config) *Harness {
	t.Helper()
	p := sendingtest.New(t)
	paths, err := returnpath.New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	r := &Harness{Parts: p}
	if r.Mover, err = bodies.New(bodies.Params{Config: c, DB: p.DB, Objects: objects, Budget: p.Budget,
		Logger: p.Logger}); err != nil {
		t.Fatal(err)
	}
	if r.Records, err = records.New(records.Params{Store: r.Mover, Usage: p.Near, DB: p.DB, Bus: p.Bus,
		Timeline: p.Bus.Log(), Budget: p.Budget, Pages: p.Pages}); err != nil {
		t.Fatal(err)
	}
	if r.Sending, err = sending.New(sending.Params{DB: p.DB, Bus: p.Bus, Accounts: p.Near, Domains: p.Near,
		Suppression: p.Near, Templates: p.Near, Quota: p.Near,
		Records: r.Records, Idempotency: p.Idempotency, Signals: sendingtest.NoSignals{}}); err != nil {
		t.Fatal(err)
	}
	r.Composer, err = compose.New(compose.Params{DB: p.DB, Domains: p.Near, Links: p.Near, Contents: r.Records,
		Budget: p.Budget})
	if err != nil {
		t.Fatal(err)
	}
	if r.Delivery, err = delivery.New(delivery.Params{Config: delivery.DefaultConfig(), DB: p.DB, Bus: p.Bus,
		Accounts: p.Near, Composer: r.Composer, Ways: p.Near,
		Lanes: lane.New(lane.Config{Smarthost: &lane.Set{Name: "peer", Own: true}}), Transport: p.Peer,
		ReturnPaths: paths,
		Signals:     sendingtest.NoSignals{}, Logger: p.Logger}); err != nil {
		t.Fatal(err)
	}
	r.work = r.Delivery.Work()
	t.Cleanup(func() {
		if err := r.Mover.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("stop moving bodies: %v", err)
		}
		if err := r.Sending.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("stop accepting: %v", err)
		}
		if err := r.Delivery.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("stop delivering: %v", err)
		}
	})
	return r
}

// SimpleMessage returns a message to the given recipients.
func SimpleMessage(to ...string) sending.Message {
	m := sending.Message{From: sending.Mailbox{Text: "Ada <ada@example.com>"}, Subject: "Hello", Text: "Hello"}
	for _, a := range to {
		m.To = append(m.To, sending.Mailbox{Text: a})
	}
	return m
}

// Send submits a message and returns its id.
func (r *Harness) Send(t *testing.T, m sending.Message) string {
	t.Helper()
	receipt, err := r.Sending.Send(t.Context(), r.Caller(), sending.Request{Message: m})
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	return r.MoveToNextMonth(t, receipt.ID)
}

// State returns an email, its recipients, their attempts and the types of its facts.
func (r *Harness) State(t *testing.T, id string) (*ent.Email, []*ent.Recipient, []*ent.Attempt, []string) {
	t.Helper()
	return sendingtest.State(t, r.Records, id)
}

// ClaimAll claims all due deliveries.
func (r *Harness) ClaimAll(t *testing.T) []delivery.Job {
	t.Helper()
	jobs, err := r.work.Claim(t.Context(), 100, time.Minute)
	if err != nil {
		t.Fatalf("claim: %v", err)
	}
	return jobs
}

// SettleWith settles claimed deliveries, all with the same outcome.
func (r *Harness) SettleWith(t *testing.T, jobs []delivery.Job, out smtpclient.Outcome) {
	t.Helper()
	var results []worker.Result[delivery.Job, smtpclient.Outcome]
	for _, j := range jobs {
		results = append(results, worker.Result[delivery.Job, smtpclient.Outcome]{Job: j, Value: out})
	}
	if err := r.work.Settle(t.Context(), results); err != nil {
		t.Fatalf("settle: %v", err)
	}
}

// Extend extends the leases of claimed deliveries and reports which are still held.
func (r *Harness) Extend(t *testing.T, jobs []delivery.Job) []bool {
	t.Helper()
	held, err := r.work.Extend(t.Context(), jobs, time.Minute)
	if err != nil {
		t.Fatalf("extend: %v", err)
	}
	return held
}
