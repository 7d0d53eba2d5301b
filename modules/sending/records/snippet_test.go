package records_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/bodies"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
)

func TestSnippetsOfEveryKindOfBody(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	body := func(text, html string) sending.Message {
		m := rooms.SimpleMessage("bob@example.net")
		m.Text, m.HTML = text, html
		return m
	}
	attached := relayedMessage("From: ada@example.com\nTo: bob@example.net\nSubject: s\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n"+
		"--x\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\nPHA+w5xiZXIgPGI+dW5zPC9iPjwvcD4=\n"+
		"--x\nContent-Type: application/pdf\nContent-Disposition: attachment\nContent-Transfer-Encoding: base64\n\n"+
		strings.Repeat(strings.Repeat("A", 76)+"\n", 2000)+"--x--\n", "bob@example.net")
	want := map[string]string{}
	var ids []string
	for _, c := range []struct {
		m    sending.Message
		want string
	}{
		{body("Hello\n\nBob", "<p>Other</p>"), "Hello Bob"},
		{body("", "<style>"+strings.Repeat("p { color: red }\n", 1500)+"</style><p>Hi <script>alert(1)</script><b>there</b></p>"), "Hi there"},
		{body(" \n", "<p>Shown</p>"), "Shown"},
		{body("", "<img src=x onerror=alert(1)>"), ""},
		{body(strings.Repeat("ü", records.MaxBody/2), ""), strings.Repeat("ü", bodies.SnippetLength)},
		{relayedMessage(aRelayed, "bob@example.net"), "Hello"},
		{attached, "Über uns"},
	} {
		id := f.Send(t, c.m)
		ids = append(ids, id)
		if c.want != "" {
			want[id] = c.want
		}
	}
	got, err := f.Snippets(t.Context(), sendingtest.Account, ids...)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, snippets (-want +got):\n%s", err, diff)
	}
	for id, snippet := range got {
		if n := utf8.RuneCountInString(snippet); n > bodies.SnippetLength {
			t.Errorf("%s has %d characters", id, n)
		}
	}
	if got, err := f.Snippets(t.Context(), "acc_01kf0m4w7he6x8q2v5b3n9c1tb", ids...); err != nil || len(got) != 0 {
		t.Errorf("another account reads %v, %v", got, err)
	}
}

func TestPurgedBodiesLeaveNoSnippet(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, m := range []sending.Message{rooms.SimpleMessage("bob@example.net"),
		relayedMessage(aRelayed, "bob@example.net")} {
		done, open := f.Send(t, m), f.Send(t, m)
		f.markDelivered(t, done)
		if _, err := f.PurgeBodies(t.Context(), sendingtest.Account, []string{done}); err != nil {
			t.Fatal(err)
		}
		got, err := f.Snippets(t.Context(), sendingtest.Account, done, open)
		if err != nil || got[done] != "" || got[open] == "" || len(got) != 1 {
			t.Errorf("snippets %v, %v; want one of the email that has its body", got, err)
		}
	}
}
