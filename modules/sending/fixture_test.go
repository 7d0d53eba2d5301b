package sending

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/sending/compose"
	"github.com/postrider/postrider/modules/sending/delivery"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/release"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/returnpath"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

type fixture struct {
	*Service
	*sendingtest.Parts
	records  *records.Service
	delivery *delivery.Service
	claims   worker.Queue[delivery.Job, smtpclient.Outcome]
	releases *release.Service
}

func newFixture(t *testing.T, changes ...func(*db.Config)) *fixture {
	t.Helper()
	p := sendingtest.New(t, changes...)
	f := &fixture{Parts: p}
	var err error
	if f.records, err = records.New(records.Params{Usage: p.Near, DB: p.DB, Bus: p.Bus, Timeline: p.Bus.Log(),
		Budget: p.Budget, Pages: p.Pages}); err != nil {
		t.Fatal(err)
	}
	if f.Service, err = New(Params{DB: p.DB, Bus: p.Bus, Accounts: p.Near, Domains: p.Near, Suppression: p.Near,
		Templates: p.Near, Quota: p.Near,
		Records: f.records, Idempotency: p.Idempotency, Signals: sendingtest.NoSignals{}}); err != nil {
		t.Fatal(err)
	}
	f.releases = release.New(release.Params{DB: p.DB, Bus: p.Bus, Accounts: p.Near, Domains: p.Near,
		Suppression: p.Near, Quota: p.Near,
		Signals: sendingtest.NoSignals{}, Logger: p.Logger})
	paths, err := returnpath.New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	composer, err := compose.New(compose.Params{DB: p.DB, Domains: p.Near, Links: p.Near, Contents: f.records,
		Budget: p.Budget})
	if err != nil {
		t.Fatal(err)
	}
	if f.delivery, err = delivery.New(delivery.Params{Config: delivery.DefaultConfig(), DB: p.DB, Bus: p.Bus,
		Accounts: p.Near, Composer: composer, Ways: p.Near,
		Lanes: lane.New(lane.Config{Smarthost: &lane.Set{Name: "peer", Own: true}}), Transport: p.Peer,
		ReturnPaths: paths,
		Signals:     sendingtest.NoSignals{}, Logger: p.Logger}); err != nil {
		t.Fatal(err)
	}
	f.claims = f.delivery.Work()
	t.Cleanup(func() {
		if err := f.delivery.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if err := f.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return f
}

// releaseAll releases everything that is due, without the loop.
func (f *fixture) releaseAll(t *testing.T) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = f.releases.Release(t.Context(), 100); err != nil {
			t.Fatalf("release due emails: %v", err)
		}
	}
}

// claimAll claims everything that is due, without a worker.
func (f *fixture) claimAll(t *testing.T) []delivery.Job {
	t.Helper()
	jobs, err := f.claims.Claim(t.Context(), 100, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

func simpleMessage(to ...string) Message {
	m := Message{From: Mailbox{Text: "Ada <ada@example.com>"}, Subject: "Hello", Text: "Hello"}
	for _, a := range to {
		m.To = append(m.To, Mailbox{Text: a})
	}
	return m
}

func renderReceipt(r Receipt) idempotency.Response {
	return idempotency.Response{Status: 200, Body: fmt.Appendf(nil, `{"id":%q,"status":%q}`, r.ID, r.Status)}
}

func (f *fixture) send(t *testing.T, m Message) string {
	t.Helper()
	receipt, err := f.Send(t.Context(), f.Caller(), Request{Message: m})
	if err != nil {
		t.Fatal(err)
	}
	return receipt.ID
}

func (f *fixture) state(t *testing.T, id string) (*ent.Email, []*ent.Recipient, []*ent.Attempt, []string) {
	t.Helper()
	return sendingtest.State(t, f.records, id)
}
