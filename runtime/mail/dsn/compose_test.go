package dsn_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/dsn"
)

func notification(t testing.TB) dsn.Notification {
	t.Helper()
	from, err := address.Parse("Mail Delivery System <mailer-daemon@mx.postrider.example>")
	if err != nil {
		t.Fatal(err)
	}
	to, err := address.Parse("news@example.net")
	if err != nil {
		t.Fatal(err)
	}
	return dsn.Notification{
		From: from, To: to, Subject: "Undeliverable: Grüße", MessageID: "n1@mx.postrider.example",
		Date: time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC),
		Text: "The message could not be delivered.\nSorry.\n", ReportingMTA: "mx.postrider.example",
		EnvelopeID: "env-1", ArrivalDate: time.Date(2026, 11, 21, 9, 29, 0, 0, time.UTC),
		Recipients: []dsn.RecipientReport{
			{Address: "bob@shop.example", OriginalAddress: "bob@alias.example", Action: dsn.ActionFailed,
				Status: "5.1.1", Code: 550, Diagnostic: "550 5.1.1 " + strings.Repeat("no such user here ", 8) + "ever",
				RemoteMTA: "mx.shop.example"},
			{Address: "jörg@shop.example", Action: dsn.ActionDelayed, Status: "4.2.2", WillRetryUntil: time.Date(2026, 11, 24, 9, 29, 0, 0, time.UTC)},
		},
		Headers: []byte("Message-ID: <o1@example.net>\r\nFrom: Jürgen <news@example.net>\r\nTo: bob@shop.example\r\nSubject: Grüße\r\n"),
	}
}

// TestComposedReportsParseBack also checks that every mail server accepts the bytes.
func TestComposedReportsParseBack(t *testing.T) {
	t.Parallel()
	n := notification(t)
	raw, err := dsn.Compose(n)
	if err != nil {
		t.Fatal(err)
	}
	expect.Golden(t, "composed.txt", strings.ReplaceAll(string(raw), "\r\n", "\n"))
	for line := range bytes.SplitSeq(raw, []byte("\r\n")) {
		if len(line) > 78 || bytes.ContainsFunc(line, func(r rune) bool { return r == '\r' || r == '\n' || r > '~' }) {
			t.Errorf("line %q", line)
		}
	}
	r := parse(t, string(raw))
	if r.Kind != dsn.Failed || !r.Structured || !r.AutoReply || r.ReportingMTA != n.ReportingMTA ||
		r.EnvelopeID != n.EnvelopeID {
		t.Errorf("the composed report parses as %+v, want a structured failure of %s with the envelope id %s", r,
			n.ReportingMTA, n.EnvelopeID)
	}
	for i := range r.Recipients {
		r.Recipients[i].WillRetryUntil = r.Recipients[i].WillRetryUntil.UTC()
	}
	if diff := cmp.Diff(n.Recipients, r.Recipients); diff != "" {
		t.Errorf("recipients (-want +got):\n%s", diff)
	}
	if o := r.Original; o.MessageID != "o1@example.net" || o.From != "news@example.net" || o.Subject != "Grüße" ||
		len(o.To) != 1 {
		t.Errorf("original: %+v", o)
	}
}

func TestComposeRejectsInvalidReports(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*dsn.Notification){
		"no recipient": func(n *dsn.Notification) { n.Recipients = nil },
		"no address":   func(n *dsn.Notification) { n.Recipients[0].Address = "" },
		"no action":    func(n *dsn.Notification) { n.Recipients[0].Action = "" },
		"odd action":   func(n *dsn.Notification) { n.Recipients[0].Action = "gone" },
		"odd status":   func(n *dsn.Notification) { n.Recipients[1].Status = "511" },
		"bad subject":  func(n *dsn.Notification) { n.Subject = "a\r\nb" },
	} {
		n := notification(t)
		change(&n)
		if raw, err := dsn.Compose(n); err == nil {
			t.Errorf("%s: Compose wrote\n%s\nwant an error", name, raw)
		}
	}
}

// TestComposeEscapesUntrustedText: line ends in untrusted text create no fields.
func TestComposeEscapesUntrustedText(t *testing.T) {
	t.Parallel()
	n := notification(t)
	n.Recipients[0].Diagnostic = "550 no\r\nAction: delivered\r\n\r\n--=_delivery_status--"
	n.Recipients[0].Address = "bob@shop.example\r\nAction: delivered"
	n.EnvelopeID = "x\nAction: delivered"
	raw, err := dsn.Compose(n)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte("\nAction: delivered")) || bytes.Count(raw, []byte("\n--=_delivery_status--")) != 1 {
		t.Errorf("Compose created fields from line ends in untrusted text:\n%s", raw)
	}
}
