package delivery

import (
	"context"
	"testing"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/compose"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/returnpath"
)

type fixture struct {
	*Service
	*sendingtest.Parts

	accepting *sending.Service
	records   *records.Service
	composer  *compose.Composer
	params    Params
}

func newFixture(t *testing.T, change ...func(*Params)) *fixture {
	t.Helper()
	parts := sendingtest.New(t)
	f := &fixture{Parts: parts}
	paths, err := returnpath.New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	if f.records, err = records.New(records.Params{Usage: f.Near, DB: f.DB, Bus: f.Bus, Timeline: f.Bus.Log(), Budget: f.Budget, Pages: f.Pages}); err != nil {
		t.Fatal(err)
	}
	if f.accepting, err = sending.New(sending.Params{DB: f.DB, Bus: f.Bus, Accounts: f.Near, Domains: f.Near, Suppression: f.Near, Templates: f.Near, Quota: f.Near,
		Records: f.records, Idempotency: f.Idempotency, Signals: sendingtest.NoSignals{}}); err != nil {
		t.Fatal(err)
	}
	if f.composer, err = compose.New(compose.Params{DB: f.DB, Domains: f.Near, Links: f.Near, Contents: f.records,
		Budget: f.Budget}); err != nil {
		t.Fatal(err)
	}
	p := Params{Config: DefaultConfig(), DB: f.DB, Bus: f.Bus, Accounts: f.Near, Composer: f.composer, Ways: f.Near,
		Lanes: lane.New(lane.Config{Smarthost: &lane.Set{Name: "peer", Own: true}}), Transport: f.Peer,
		ReturnPaths: paths,
		Signals:     sendingtest.NoSignals{}, Logger: f.Logger}
	for _, set := range change {
		set(&p)
	}
	f.params = p
	if f.Service, err = New(p); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.accepting.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if err := f.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return f
}

func simpleMessage(to ...string) sending.Message {
	m := sending.Message{From: sending.Mailbox{Text: "Ada <ada@example.com>"}, Subject: "Hello", Text: "Hello"}
	for _, a := range to {
		m.To = append(m.To, sending.Mailbox{Text: a})
	}
	return m
}

func (f *fixture) send(t *testing.T, m sending.Message) string {
	t.Helper()
	receipt, err := f.accepting.Send(t.Context(), f.Caller(), sending.Request{Message: m})
	if err != nil {
		t.Fatal(err)
	}
	return f.MoveToNextMonth(t, receipt.ID)
}

func (f *fixture) loadState(t *testing.T, id string) (*ent.Email, []*ent.Recipient, []*ent.Attempt, []string) {
	t.Helper()
	return sendingtest.State(t, f.records, id)
}
