package journeys_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// questionMessage is a message with a file, as sent by a mail server.
var questionMessage = strings.ReplaceAll(`From: =?utf-8?q?J=C3=BCrgen?= <juergen@example.net>
To: Support <support@dev.test>
Cc: carol@example.net
Reply-To: answers@example.net
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
Date: Sun, 22 Nov 2026 09:30:00 +0100
Message-ID: <question-2@example.net>
In-Reply-To: <question-1@example.net>
References: <question-0@example.net> <question-1@example.net>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: multipart/alternative; boundary=c

--c
Content-Type: text/plain; charset=utf-8

Where is my order?
--c
Content-Type: text/html; charset=utf-8

<p>Where is my order? <img src="cid:logo"></p>
--c--
--b
Content-Type: application/pdf; name=order.pdf
Content-Disposition: attachment; filename=order.pdf
Content-Transfer-Encoding: base64

JVBERi0xLjcKJSVFT0Y=
--b--
`, "\n", "\r\n")

// receive sends a message that must be accepted.
func receive(t *testing.T, app *harness.App, to, message string) {
	t.Helper()
	harness.Eventually(t, "the message is accepted", func() bool { // a temporary error is retried
		rcpt, data := deliver(t, app, "juergen@example.net", to, message)
		if strings.HasPrefix(rcpt, "5") || strings.HasPrefix(data, "5") {
			t.Fatalf("got the replies %s and %s", rcpt, data)
		}
		return strings.HasPrefix(rcpt, "250 ") && strings.HasPrefix(data, "250 ")
	})
}

// lastReceived returns the id of the newest received email.
func lastReceived(t *testing.T, app *harness.App) string {
	t.Helper()
	var list struct {
		ReceivedEmails []struct{ ID string } `json:"received_emails"`
	}
	app.Do(t, http.MethodGet, "/api/received-emails", nil).JSON(t, &list)
	if len(list.ReceivedEmails) == 0 {
		t.Fatal("nothing was received")
	}
	return list.ReceivedEmails[0].ID
}

type inboundEvent struct {
	Type string
	Data struct {
		EmailID         string `json:"email_id"`
		RcptTo          string `json:"rcpt_to"`
		MessageID       string `json:"message_id"`
		AttachmentCount int    `json:"attachment_count"`
		From, Subject   string
	}
}

// A message arrives over SMTP, is stored byte for byte, reported to a webhook endpoint and read over the
// API; the reply arrives at the sender's server in the same thread.
func TestJourneyInbound(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	url, heard := newListener(t)
	app.Do(t, http.MethodPost, "/api/webhooks", map[string]any{"url": url, "events": []string{"email.received"}})
	receive(t, app, "support@dev.test", questionMessage)

	var told inboundEvent
	if err := json.Unmarshal([]byte((<-heard).body), &told); err != nil {
		t.Fatal(err)
	}
	id := told.Data.EmailID
	if told.Type != "email.received" || !strings.HasPrefix(id, "inb_") || told.Data.RcptTo != "support@dev.test" ||
		told.Data.Subject != "Grüße" ||
		told.Data.From != "Jürgen <juergen@example.net>" || told.Data.MessageID != "question-2@example.net" ||
		told.Data.AttachmentCount != 1 {
		t.Errorf("reported %+v", told)
	}

	var got struct {
		ReceivedEmail struct {
			ID, Text, HTML string
			Headers        []struct{ Name, Value string }
			Attachments    []struct{ Filename, Data string }
			Auth           struct{ SPF, DKIM, DMARC string }
			SpamStatus     string `json:"spam_status"`
			Size           int
		} `json:"received_email"`
	}
	app.Do(t, http.MethodGet, "/api/received-emails/"+id, nil).JSON(t, &got)
	e := got.ReceivedEmail
	if e.ID != id || !strings.Contains(e.Text, "Where is my order?") || !strings.Contains(e.HTML, "cid:logo") ||
		len(e.Headers) != 11 || e.Headers[4].Value != "Grüße" ||
		e.Auth.SPF != "none" || e.Auth.DKIM != "none" || e.SpamStatus != "unknown" || e.Size != len(questionMessage) {
		t.Errorf("the received email reads as %+v, want %s with its text, HTML, 11 header fields and size of %d", e, id,
			len(questionMessage))
	}
	if file, err := base64.StdEncoding.DecodeString(e.Attachments[0].Data); err != nil ||
		string(file) != "%PDF-1.7\n%%EOF" || e.Attachments[0].Filename != "order.pdf" {
		t.Errorf("file %q, %v", file, err)
	}
	raw := app.Do(t, http.MethodGet, "/api/received-emails/"+id+"/raw", nil)
	if diff := cmp.Diff(questionMessage, string(raw.Body)); diff != "" || raw.Header.Get("Content-Type") != "message/rfc822" {
		t.Errorf("%s (-sent +raw):\n%s", raw.Header.Get("Content-Type"), diff)
	}

	answered := app.Do(t, http.MethodPost, "/api/received-emails/"+id+"/reply", `{"text":"On its way."}`,
		"Idempotency-Key", "once")
	if again := app.Do(t, http.MethodPost, "/api/received-emails/"+id+"/reply", `{"text":"On its way."}`,
		"Idempotency-Key", "once"); string(again.Body) != string(answered.Body) {
		t.Errorf("replayed %s, first %s", again.Body, answered.Body)
	}
	app.MX.Wait(t, "the reply arrives", func(s smtptest.Stats) bool { return s.Accepted == 1 })
	reply := string(app.MX.Messages()[0].Data)
	for _, want := range []string{"\r\nIn-Reply-To: <question-2@example.net>\r\n", "Subject: Re: =?utf-8?",
		"From: support@dev.test\r\n", "To: answers@example.net\r\n"} {
		if !strings.Contains(reply, want) {
			t.Errorf("the reply lacks %q:\n%s", want, reply)
		}
	}
	unfolded := strings.ReplaceAll(reply, "\r\n ", " ")
	if !strings.Contains(unfolded,
		"\r\nReferences: <question-0@example.net> <question-1@example.net> <question-2@example.net>\r\n") {
		t.Errorf("the reply does not have the references:\n%s", reply)
	}

	if got := app.Do(t, http.MethodPost, "/api/received-emails/"+id+"/forward",
		`{"to":"dave@example.net","text":"Please look."}`); got.Status != http.StatusOK {
		t.Fatalf("forward: %d %s", got.Status, got.Body)
	}
	app.MX.Wait(t, "it is forwarded", func(s smtptest.Stats) bool { return s.Accepted == 2 })
	forwarded := string(app.MX.Messages()[1].Data)
	for _, want := range []string{"Please look.", "Forwarded message", "Where is my order?", "JVBERi0xLjcKJSVFT0Y=",
		"order.pdf"} {
		if !strings.Contains(forwarded, want) {
			t.Errorf("the forwarded message lacks %q:\n%s", want, forwarded)
		}
	}
	if got := app.Do(t, http.MethodDelete, "/api/received-emails/"+id, nil); got.Status != http.StatusOK {
		t.Errorf("delete: %d %s", got.Status, got.Body)
	}
	for _, path := range []string{"", "/raw"} {
		if got := app.Do(t, http.MethodGet, "/api/received-emails/"+id+path, nil); got.Status != http.StatusNotFound {
			t.Errorf("after the deletion GET %s returned %d %s", path, got.Status, got.Body)
		}
	}
}
