package sending

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/fault"
)

func TestResendCreatesNewEmail(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	yes := true
	m := simpleMessage("Bob <bob@example.net>", "carol@bücher.example")
	m.CC, m.BCC, m.ReplyTo = []Mailbox{{Email: "d@example.net", Name: `Dan, "the man"`}},
		[]Mailbox{{Text: "e@example.net"}}, []Mailbox{{Text: "help@example.com"}}
	m.HTML, m.Tags, m.Headers = "<p>Hello {{unsubscribe_url}}</p>", []shape.Tag{{Name: "kind", Value: "x"}},
		[]shape.Header{{Name: "X-B", Value: "2"}}
	m.Unsubscribe, m.Category = &yes, "Product news"
	withFile := m
	withFile.Attachments = []Attachment{{Name: "a.pdf", Data: []byte("%PDF")}}
	later := m
	later.ScheduledAt = sendingtest.At(time.Hour)
	for what, first := range map[string]string{"sent": f.send(t, withFile), "scheduled": f.send(t, later)} {
		receipt, err := f.Resend(t.Context(), f.Caller(), Resend{EmailID: first})
		if err != nil || receipt.ID == first || receipt.Status != "sent" {
			t.Fatalf("%s: Resend returned %+v, %v; want a new sent email", what, receipt, err)
		}
		before, _, _, _ := f.state(t, first)
		after, recipients, _, _ := f.state(t, receipt.ID)
		ignored := cmpopts.IgnoreFields(ent.Email{}, "ID", "MessageID", "CreatedAt", "SentAt", "AttachmentCount",
			"Search", "Edges",
			"Status", "LastEvent", "Uncommon", "ScheduledAt", "ReleaseAt")
		if diff := cmp.Diff(before, after, ignored, cmpopts.IgnoreUnexported(ent.Email{})); diff != "" {
			t.Errorf("%s, first (-) and second (+):\n%s", what, diff)
		}
		if after.AttachmentCount != 0 || after.ScheduledAt != nil || len(recipients) != 4 {
			t.Errorf("%s: %d attachments, scheduled at %v, %d recipients", what, after.AttachmentCount,
				after.ScheduledAt, len(recipients))
		}
	}
	if n := f.Count(t, "attachments"); n != 1 {
		t.Errorf("%d attachments", n)
	}
}

func TestResendFollowsRulesOfSend(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.send(t, simpleMessage("bob@example.net"))
	resend := func() (Receipt, error) { return f.Resend(t.Context(), f.Caller(), Resend{EmailID: id}) }
	f.Near.Suppressed["bob@example.net"] = "manual"
	if receipt, err := resend(); err != nil || receipt.Status != "failed" {
		t.Errorf("Resend to a suppressed recipient returned %+v, %v", receipt, err)
	}
	f.Near.Left = 0
	f.Near.Suppressed = nil
	if _, err := resend(); fault.KindOf(err) != fault.Limit {
		t.Errorf("Resend over the cap returned %v", err)
	}
	f.Near.SenderErr = fault.Forbiddenf(fault.CodeDomainNotVerified, "lost")
	if _, err := resend(); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("Resend without the domain returned %v", err)
	}
	stranger := f.Caller()
	stranger.AccountID = "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
	if _, err := f.Resend(t.Context(), stranger, Resend{EmailID: id}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Resend of another account's email returned %v", err)
	}
	if _, err := f.DB.SQL.ExecContext(t.Context(), `UPDATE emails SET body_purged_at = now(), text = NULL`); err != nil {
		t.Fatal(err)
	}
	if _, err := resend(); fault.KindOf(err) != fault.Conflict {
		t.Errorf("Resend without a body returned %v", err)
	}
}

// notResent lists the fields of a message that a resend omits on purpose, and why.
var notResent = map[string]string{
	"Attachments": "the description of the operation says so",
	"ScheduledAt": "a resend is sent immediately",
	"ExpiresAt":   "it was the deadline of the stored email",
	"Template":    "the stored email has the rendered bodies",
	"Relayed":     "resendable sets it",
}

// A new field of a message that messageOf does not read back would be lost by a resend.
func TestResendCopiesEveryField(t *testing.T) {
	t.Parallel()
	stored := &ent.Email{}
	row := reflect.ValueOf(stored).Elem()
	for i := range row.NumField() {
		if field := row.Type().Field(i); field.IsExported() && field.Name != "Edges" { // these lead to recursion
			fillValue(row.Field(i))
		}
	}
	copied := reflect.ValueOf(messageOf(stored))
	stored.Text = new(string) // not set, because the caller wants none
	withoutText := reflect.ValueOf(messageOf(stored))
	for i := range copied.NumField() {
		name := copied.Type().Field(i).Name
		isCopied := !copied.Field(i).IsZero() || !withoutText.Field(i).IsZero()
		switch reason := notResent[name]; {
		case !isCopied && reason == "":
			t.Errorf("a resend loses Message.%s: copy it in messageOf, or list the reason in notResent", name)
		case isCopied && reason != "":
			t.Errorf("a resend copies Message.%s, although notResent says: %s", name, reason)
		}
	}
}

// fillValue sets a nonzero value.
func fillValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillValue(v.Index(0))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				fillValue(field)
			}
		}
	}
}
