package outbound

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

func plain(s string) secret.String { return secret.New(s) }

func (w *world) smarthost(t testing.TB, in SmarthostInput) *ent.Smarthost {
	t.Helper()
	stored, err := w.SetSmarthost(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	reread(t, w.Ways)
	return stored
}

func (w *world) relayOf(t testing.TB, s *Ways, accountID string) smtpclient.Smarthost {
	t.Helper()
	ways, err := s.Choose(t.Context(), []Question{{AccountID: accountID, Destination: "example.net"}})
	if err != nil || ways[0].Smarthost == nil {
		t.Fatalf("the way of the account %s is %+v, %v, want a smarthost", accountID, ways, err)
	}
	return *ways[0].Smarthost
}

func TestSmarthostPasswordIsSealedAndHidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, in := range []SmarthostInput{
		{Account: "free@example.com", URL: plain("smtps://us%40er:hush-hush@Relay.Example.com")},
		{Account: w.free, URL: plain("smtps://us%40er@relay.example.com:465/"), Password: plain("hush-hush")},
	} {
		stored := w.smarthost(t, in)
		want := smtpclient.Smarthost{Host: "relay.example.com", Port: 465, Implicit: true, Username: "us@er",
			Password: "hush-hush"}
		if diff := cmp.Diff(want, w.relayOf(t, w.Ways, w.free)); diff != "" {
			t.Error(diff)
		}
		printed := fmt.Sprintf("%v %+v %#v %s %v %+v", in, in, in, SmarthostURL(stored), stored, stored)
		if strings.Contains(printed, "hush") || SmarthostURL(stored) != "smtps://us%40er@relay.example.com:465" {
			t.Errorf("the output contains the password or lacks the URL: %s", printed)
		}
		if row := *w.db.Ent.Smarthost.GetX(t.Context(), stored.ID).Password; bytes.Contains(row, []byte("hush")) {
			t.Errorf("the password is stored as %q", row)
		}
	}
	rows := w.db.Ent.Smarthost.Query().AllX(t.Context())
	if len(rows) != 1 {
		t.Fatalf("got %d rows, want the second smarthost to replace the first", len(rows))
	}
	// If the password is moved to another account's row, it cannot be decrypted, and the mail waits.
	other := w.smarthost(t, SmarthostInput{Account: w.pool, URL: plain("smtp://thief:own@thief.example.com")})
	w.exec(t, `UPDATE smarthosts SET password = $1 WHERE id = $2`, *rows[0].Password, other.ID)
	s := w.process(t, Config{})
	if got := w.relayOf(t, s, w.pool); got.Password != "" || got.Username != "thief" ||
		!strings.Contains(w.logged.String(), "cannot be decrypted") {
		t.Errorf("the way is %#v, the log %s", got, w.logged)
	}
	if got := w.relayOf(t, s, w.free); got.Password != "hush-hush" {
		t.Error("mail of other accounts waits as well")
	}
}

func TestRemovedSmarthostIsNotUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.smarthost(t, SmarthostInput{Account: w.free, URL: plain("smtp://user:hush@relay.example.com?verify=off")})
	changed := w.smarthost(t, SmarthostInput{Account: w.free, URL: plain("smtp://postfix:2525")})
	if diff := cmp.Diff(smtpclient.Smarthost{Host: "postfix", Port: 2525}, w.relayOf(t, w.Ways, w.free)); diff != "" ||
		HasPassword(changed) || strings.Contains(w.logged.String(), "cannot be decrypted") {
		t.Error(diff)
	}
	if err := w.RemoveSmarthost(t.Context(), changed.ID); err != nil {
		t.Fatal(err)
	}
	reread(t, w.Ways)
	if got := choose(t, w.Ways, 1, Question{AccountID: w.free}); got[0] != "" {
		t.Errorf("the removed smarthost is still used: %s", got[0])
	}
	for _, unknown := range []string{changed.ID, "smh_x", "\x00"} {
		if err := w.RemoveSmarthost(t.Context(), unknown); fault.KindOf(err) != fault.NotFound {
			t.Errorf("removing the smarthost %q returned %v, want not found", unknown, err)
		}
	}
}

func TestInvalidSmarthostReportsFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, test := range map[string]struct {
		in     SmarthostInput
		fields []string
	}{
		"everything": {SmarthostInput{Domain: "no domain", Use: "sometimes", URL: plain("https://x:hush@y")},
			[]string{"account", "domain", "url", "use"}},
		"password twice":          {SmarthostInput{Account: w.free, URL: plain("smtp://u:hush@h.example"), Password: plain("hush")}, []string{"password"}},
		"password without a user": {SmarthostInput{Account: w.free, URL: plain("smtp://h.example"), Password: plain("hush")}, []string{"url"}},
		"user alone":              {SmarthostInput{Account: w.free, URL: plain("smtp://u@h.example")}, []string{"url"}},
		"no host":                 {SmarthostInput{Account: w.free, URL: plain("smtp://:25")}, []string{"url"}},
		"no host name":            {SmarthostInput{Account: w.free, URL: plain("smtp://a_b.example:25")}, []string{"url"}},
		"a line end in a name":    {SmarthostInput{Account: w.free, URL: plain("smtp://u%0D%0A:hush@h.example")}, []string{"url"}},
	} {
		_, err := w.SetSmarthost(t.Context(), test.in)
		refused := fault.Classify(err)
		if err == nil || refused.Kind != fault.Invalid || len(refused.Fields) != len(test.fields) {
			t.Errorf("%s: SetSmarthost returned %v with fields %v, want errors of %v", name, err, refused.Fields,
				test.fields)
		}
		for _, field := range test.fields {
			if refused.Fields[field] == "" || strings.Contains(refused.Fields[field], "hush") {
				t.Errorf("%s: the error of the field %s is %q, want a reason without the password", name, field,
					refused.Fields[field])
			}
		}
	}
	for name, in := range map[string]SmarthostInput{
		"no such account":          {Account: "nobody@example.com", URL: plain("smtp://h.example")},
		"another account's domain": {Account: w.free, Domain: "one.example", URL: plain("smtp://h.example")},
	} {
		if _, err := w.SetSmarthost(t.Context(), in); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s: SetSmarthost returned %v, want not found", name, err)
		}
	}
	if n := w.db.Ent.Smarthost.Query().CountX(t.Context()); n != 0 {
		t.Errorf("%d smarthosts are stored", n)
	}
}
