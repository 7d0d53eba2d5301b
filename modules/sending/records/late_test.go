package records_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/modules/sending/delivery"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
	"github.com/postrider/postrider/runtime/mail/bounce"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/work/event"
)

var (
	taken  = smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250, Reply: "250 Ok"}
	lately = records.LateBounce{Verdict: bounce.Verdict{Class: bounce.BadAddress, Bounces: true}, Permanent: true,
		Code: 550, EnhancedCode: "5.1.1", Diagnostic: "550 5.1.1 no such user", RemoteMTA: "inner.example.net"}
)

func (f *fixture) bounceLate(t *testing.T, b records.LateBounce) (changed bool) {
	t.Helper()
	err := f.DB.InTx(t.Context(), func(tx *ent.Tx) (err error) {
		changed, err = f.BounceLate(context.WithoutCancel(t.Context()), tx, b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func TestDeliveredRecipientBouncesLate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.Send(t, rooms.SimpleMessage("bob@example.net", "carol@example.net"))
	f.SettleWith(t, f.ClaimAll(t), taken)
	_, recipients, _, _ := f.State(t, id)
	b := lately
	b.EmailID, b.RecipientID = id, recipients[0].ID
	if !f.bounceLate(t, b) || f.bounceLate(t, b) {
		t.Error("want a change by the first report only")
	}
	e, recipients, attempts, types := f.State(t, id)
	if e.Status != email.StatusBounced || e.BouncedAt == nil || e.DeliveredAt != nil ||
		*e.BounceReason != b.Diagnostic || e.LastEvent != "email.bounced" || *e.Uncommon != "bounced" {
		t.Errorf("email: %+v", e)
	}
	r := recipients[0]
	if r.State != recipient.StateBounced || *r.Code != 550 || *r.EnhancedCode != "5.1.1" ||
		*r.Diagnostic != b.Diagnostic || *r.RemoteMta != b.RemoteMTA || r.DueAt != nil {
		t.Errorf("recipient: %+v", r)
	}
	if recipients[1].State != recipient.StateDelivered || len(attempts) != 2 || *attempts[0].Outcome != "delivered" {
		t.Errorf("the history has changed: %+v %+v", recipients[1], attempts)
	}
	if diff := cmp.Diff([]string{"email.sent", "email.delivered", "email.delivered", "email.bounced"},
		types); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	facts, err := f.Timeline(t.Context(), sendingtest.Account, id)
	if err != nil {
		t.Fatal(err)
	}
	var data event.Email
	if err := json.Unmarshal(facts[id][3].Data, &data); err != nil {
		t.Fatal(err)
	}
	want := event.Bounce{Type: "permanent", Code: 550, EnhancedCode: "5.1.1", Diagnostic: b.Diagnostic,
		RemoteMTA: b.RemoteMTA}
	if data.Recipient != "bob@example.net" || data.Status != "bounced" || data.BounceReason != b.Diagnostic ||
		*data.Bounce != want {
		t.Errorf("fact: %+v %+v", data, data.Bounce)
	}
}

func TestLateMessageRefusalIsNotABounce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.Send(t, rooms.SimpleMessage("bob@example.net", "carol@example.net"))
	f.SettleWith(t, f.ClaimAll(t), taken)
	_, recipients, _, _ := f.State(t, id)
	b := records.LateBounce{EmailID: id, RecipientID: recipients[0].ID, Verdict: bounce.Verdict{Class: bounce.Content},
		Permanent: true, Code: 554, EnhancedCode: "5.7.1", Diagnostic: "554 5.7.1 spam"}
	if !f.bounceLate(t, b) || f.bounceLate(t, b) {
		t.Error("want a change by the first report only")
	}
	e, recipients, _, types := f.State(t, id)
	if e.Status != email.StatusFailed || e.BounceReason != nil || e.DeliveredAt != nil || *e.Uncommon != "failed" ||
		recipients[0].State != recipient.StateFailed {
		t.Errorf("the email is %s with the bounce reason %v, its recipient %s, want both failed", e.Status,
			e.BounceReason, recipients[0].State)
	}
	data := f.Payload(t, id, len(types)-1)
	if types[len(types)-1] != "email.failed" || data.Status != "failed" || data.EmailStatus != "failed" ||
		data.Bounce != nil || data.Failure == nil || data.Failure.Code != "content" {
		t.Errorf("the events are %v, the last with %+v, want email.failed with the code content", types, data)
	}
}

// A bounce of a recipient that is being retried ends the retries: a running attempt has no effect.
func TestLateBounceEndsRetries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.Send(t, rooms.SimpleMessage("bob@example.net"))
	jobs := f.ClaimAll(t)
	_, recipients, _, _ := f.State(t, id)
	b := lately
	b.EmailID, b.RecipientID, b.Permanent = id, recipients[0].ID, false
	if !f.bounceLate(t, b) {
		t.Fatal("the bounce changed nothing")
	}
	f.SettleWith(t, jobs, taken)
	f.MakeDue(t)
	if again := f.ClaimAll(t); len(again) != 0 {
		t.Errorf("claimed again: %+v", again)
	}
	e, recipients, attempts, types := f.State(t, id)
	if e.Status != email.StatusBounced || recipients[0].State != recipient.StateBounced ||
		types[len(types)-1] != "email.bounced" || len(types) != 2 {
		t.Errorf("after a late bounce the email is %s, its recipient %s and the facts are %v, want both bounced and email.bounced the last of 2 facts", e.Status, recipients[0].State, types)
	}
	if attempts[0].Outcome == nil || *attempts[0].Outcome != "delivered" {
		t.Errorf("the attempt has no outcome: %+v", attempts[0])
	}
}

func TestLateBounceChangesNothingElse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	open, done := f.Send(t, rooms.SimpleMessage("a@example.net", "b@example.net")), f.Send(t,
		rooms.SimpleMessage("c@example.net"))
	for _, j := range f.ClaimAll(t) {
		out := taken
		if j.Address() == "c@example.net" {
			out = smtpclient.Outcome{Kind: smtpclient.Failed, Reason: "null_mx"}
		} else if j.Address() == "b@example.net" {
			continue
		}
		f.SettleWith(t, []delivery.Job{j}, out)
	}
	_, ofOpen, _, _ := f.State(t, open)
	_, ofDone, _, _ := f.State(t, done)
	for what, b := range map[string]records.LateBounce{
		"unknown":            {EmailID: open, RecipientID: 1 << 40},
		"of another email":   {EmailID: done, RecipientID: ofOpen[0].ID},
		"of a failed one":    {EmailID: done, RecipientID: ofDone[0].ID},
		"of no email at all": {EmailID: "msg_01kabm5yq3e0tv2w6z9j7r4d5c", RecipientID: ofOpen[0].ID},
	} {
		if f.bounceLate(t, b) {
			t.Errorf("%s has changed something", what)
		}
	}
	if e, _, _, types := f.State(t, done); e.Status != email.StatusFailed || len(types) != 2 {
		t.Errorf("after late bounces of others the email is %s with the facts %v, want it failed with 2 facts",
			e.Status, types)
	}
	b := lately
	b.EmailID, b.RecipientID = open, ofOpen[0].ID
	if !f.bounceLate(t, b) {
		t.Error("the bounce changed nothing")
	}
	if e, _, _, _ := f.State(t, open); e.Status != email.StatusSent || e.BouncedAt != nil {
		t.Errorf("with another recipient open it is %s", e.Status)
	}
}
