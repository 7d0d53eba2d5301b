package delivery

import (
	"testing"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

func TestOnlyRefusalsOfTheRecipientAreBounces(t *testing.T) {
	t.Parallel()
	fresh, old := Job{attempt: 1, age: time.Second}, Job{attempt: 25, age: 73 * time.Hour}
	refusal := func(code int, enhanced, text string) smtpclient.Outcome {
		out := smtpclient.Outcome{Kind: smtpclient.Permanent, Code: code, EnhancedCode: enhanced, Reply: text}
		if code/100 == 4 {
			out.Kind = smtpclient.Temporary
		}
		return out
	}
	for name, c := range map[string]struct {
		job  Job
		out  smtpclient.Outcome
		want recipient.State
	}{
		"unknown user": {fresh, refusal(550, "5.1.1", "550 5.1.1 User unknown"), recipient.StateBounced},
		"mailbox full": {fresh, refusal(552, "5.2.2", "552 5.2.2 Mailbox full"), recipient.StateBounced},
		"unclassified reply to MAIL": {fresh,
			smtpclient.Outcome{Kind: smtpclient.Permanent, Phase: smtpclient.PhaseMail, Code: 554, Reply: "554 No"},
			recipient.StateFailed},
		"unclassified reply at the dot": {fresh, smtpclient.Outcome{Kind: smtpclient.Permanent,
			Phase: smtpclient.PhaseDot, Code: 554, Reply: "554 Transaction failed"}, recipient.StateFailed},
		"unclassified reply to RCPT": {fresh,
			smtpclient.Outcome{Kind: smtpclient.Permanent, Phase: smtpclient.PhaseRcpt, Code: 550, Reply: "550 No"},
			recipient.StateBounced},
		"unclassified reply to EHLO": {fresh,
			smtpclient.Outcome{Kind: smtpclient.Permanent, Phase: smtpclient.PhaseEHLO, Code: 550, Reply: "550 No"},
			recipient.StateFailed},
		"unknown user at the dot": {fresh, smtpclient.Outcome{Kind: smtpclient.Permanent,
			Phase: smtpclient.PhaseDot, Code: 550, EnhancedCode: "5.1.1", Reply: "550 5.1.1 User unknown"},
			recipient.StateBounced},
		"busy at the dot for 73 hours": {old,
			smtpclient.Outcome{Kind: smtpclient.Temporary, Phase: smtpclient.PhaseDot, Code: 451, Reply: "451 Later"},
			recipient.StateBounced},
		"taken for spam":                {fresh, refusal(554, "5.7.1", "554 5.7.1 Message rejected as spam"), recipient.StateFailed},
		"DMARC":                         {fresh, refusal(550, "5.7.26", "550 5.7.26 Unauthenticated email"), recipient.StateFailed},
		"on a block list":               {fresh, refusal(554, "", "554 Your IP is on a blocklist"), recipient.StateFailed},
		"too large":                     {fresh, refusal(552, "5.3.4", "552 5.3.4 Message too big"), recipient.StateFailed},
		"greylisted for 73 hours":       {old, refusal(451, "4.7.1", "451 4.7.1 Greylisted, try again later"), recipient.StateFailed},
		"throttled for 73 hours":        {old, refusal(421, "4.7.28", "421 4.7.28 Too much mail"), recipient.StateFailed},
		"mailbox full for 73 hours":     {old, refusal(452, "4.2.2", "452 4.2.2 Over quota"), recipient.StateBounced},
		"busy for 73 hours":             {old, refusal(450, "", "450 Try later"), recipient.StateBounced},
		"no answer for 73 hours":        {old, smtpclient.Outcome{Kind: smtpclient.Temporary, Phase: smtpclient.PhaseConnect}, recipient.StateBounced},
		"greylisted, with retries left": {fresh, refusal(451, "4.7.1", "451 4.7.1 Greylisted"), recipient.StateDeferred},
		"no attempt could succeed":      {fresh, smtpclient.Outcome{Kind: smtpclient.Failed, Reason: smtpclient.ReasonNullMX}, recipient.StateFailed},
		"no attempt could succeed, at RCPT 5": {fresh, smtpclient.Outcome{Kind: smtpclient.Failed,
			Reason: smtpclient.ReasonSMTPUTF8Required, Code: 553, EnhancedCode: "5.6.7"}, recipient.StateFailed},
	} {
		if got := judgeOutcome(c.job, c.out); got.state != c.want {
			t.Errorf("%s: the recipient is %s, want %s", name, got.state, c.want)
		}
	}
}

func TestFailureNamesItsClass(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Peer.Answers["bob@example.net"] = smtpclient.Outcome{Kind: smtpclient.Permanent, Code: 550,
		EnhancedCode: "5.7.26", Reply: "550 5.7.26 Unauthenticated email"}
	id := f.send(t, simpleMessage("bob@example.net"))
	f.deliverDue(t)
	e, recipients, attempts, types := f.loadState(t, id)
	if e.Status != email.StatusFailed || e.BounceReason != nil || recipients[0].State != recipient.StateFailed ||
		*attempts[0].Outcome != "failed" || types[len(types)-1] != "email.failed" {
		t.Fatalf("after a policy refusal: email %s, bounce reason %v, recipient %s, events %v; want all failed",
			e.Status, e.BounceReason, recipients[0].State, types)
	}
	if data := f.Payload(t, id, 1); data.Bounce != nil || data.Failure == nil || data.Failure.Code != "policy" ||
		data.Failure.Reason != "550 5.7.26 Unauthenticated email" {
		t.Errorf("the event has the bounce %+v and the failure %+v, want a failure with the code policy", data.Bounce,
			data.Failure)
	}
}

func TestStatusOfAnEventMatchesItsType(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Peer.Answers["bad@example.net"] = smtpclient.Outcome{Kind: smtpclient.Permanent, Code: 550, EnhancedCode: "5.1.1",
		Reply: "550 5.1.1 unknown"}
	f.Peer.Answers["none@example.net"] = smtpclient.Outcome{Kind: smtpclient.Failed, Reason: smtpclient.ReasonNullMX}
	f.Peer.Answers["late@example.net"] = smtpclient.Outcome{Kind: smtpclient.Temporary, Code: 451, Reply: "451 later"}
	id := f.send(t, simpleMessage("bad@example.net", "none@example.net", "late@example.net", "good@example.net"))
	f.deliverDue(t)
	delete(f.Peer.Answers, "late@example.net")
	f.MakeDue(t)
	f.deliverDue(t)
	_, _, _, types := f.loadState(t, id)
	want := map[string]string{"email.sent": "sent", "email.bounced": "bounced", "email.failed": "failed",
		"email.delivery_delayed": "sent", "email.delivered": "delivered"}
	seen := map[string]bool{}
	for i, typ := range types {
		data := f.Payload(t, id, i)
		seen[typ] = true
		if data.Status != want[typ] {
			t.Errorf("event %d, %s of %s, has the status %q, want %q", i, typ, data.Recipient, data.Status, want[typ])
		}
		if whole := map[bool]string{true: "failed", false: "sent"}[i == len(types)-1]; data.EmailStatus != whole {
			t.Errorf("event %d, %s, has the email status %q, want %q", i, typ, data.EmailStatus, whole)
		}
	}
	if len(seen) != len(want) {
		t.Errorf("events %v, want each of %d types", types, len(want))
	}
}

// deliverDue settles due recipients, one after the other, with the replies of the peer.
func (f *fixture) deliverDue(t *testing.T) {
	t.Helper()
	for _, j := range f.claimAll(t) {
		out, scripted := f.Peer.Answers[j.address]
		if !scripted {
			out = smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250, Reply: "250 Ok"}
		}
		f.settleWith(t, []Job{j}, out)
	}
}
