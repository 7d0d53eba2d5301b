package delivery

import (
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

var taken250 = smtpclient.Outcome{Kind: smtpclient.Delivered, Phase: smtpclient.PhaseDot, Code: 250,
	EnhancedCode: "2.0.0", Reply: "250 2.0.0 Ok: queued as 4XyZ",
	RemoteHost: "mx.example.net", RemoteAddr: "192.0.2.1:25", LocalAddr: "192.0.2.9:4711", TLS: "TLS 1.3",
	TLSPolicy: smtpclient.PolicySTS}

// The statement and the transaction must store the same.
func TestStatementSettlesAsTheTransactionDoes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	stored := map[bool][]string{}
	for _, once := range []bool{true, false} {
		id := f.send(t, simpleMessage("bob@example.net"))
		jobs := f.claimAll(t)
		if !jobs[0].message.OneRecipient {
			t.Fatal("OneRecipient is false for a message with one recipient")
		}
		jobs[0].message.OneRecipient = once
		f.settleWith(t, jobs, taken250)
		f.settleWith(t, jobs, taken250) // as if its result was lost
		for _, query := range []string{
			`SELECT to_jsonb(e) - 'id' - 'message_id' - 'created_at' - 'sent_at' || jsonb_build_object('delivered_at', delivered_at >= sent_at) FROM emails e WHERE id = $1`,
			`SELECT to_jsonb(r) - 'id' - 'email_id' - 'created_at' - 'queued_at' || jsonb_build_object('settled_at', settled_at >= created_at) FROM recipients r WHERE email_id = $1`,
			`SELECT to_jsonb(a) - 'id' - 'email_id' - 'recipient_id' - 'started_at' || jsonb_build_object('finished_at', finished_at >= started_at) FROM attempts a WHERE email_id = $1`,
			`SELECT coalesce(jsonb_agg(to_jsonb(f) - 'id' - 'created_at' - 'subject_id' #- '{data,email_id}' #- '{data,created_at}' ORDER BY id), '[]') FROM facts f WHERE subject_id = $1`,
		} {
			var row string
			if err := f.DB.SQL.QueryRowContext(t.Context(), query, id).Scan(&row); err != nil {
				t.Fatal(err)
			}
			stored[once] = append(stored[once], row)
		}
	}
	for i, want := range stored[false] {
		if got := stored[true][i]; got != want {
			t.Errorf("one statement: %s\ntransaction:   %s", got, want)
		}
	}
}

// A worker that has lost the recipient to another claim changes only its own attempt.
func TestSettleStatementRespectsItsFence(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.send(t, simpleMessage("bob@example.net"))
	jobs := f.claimAll(t)
	f.MakeDue(t)
	if len(f.claimAll(t)) != 1 {
		t.Fatal("not claimed again")
	}
	f.settleWith(t, jobs, taken250)
	e, recipients, attempts, facts := f.loadState(t, id)
	if e.Status != "sent" || recipients[0].State != "queued" || len(facts) != 1 {
		t.Errorf("email %s, recipient %s, facts %v", e.Status, recipients[0].State, facts)
	}
	if len(attempts) != 2 || *attempts[0].Outcome != "delivered" || attempts[1].Outcome != nil {
		t.Errorf("attempts %v", attempts)
	}
}
