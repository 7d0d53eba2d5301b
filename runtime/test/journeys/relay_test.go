package journeys_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// A letter with everything that transports tend to change: long lines, dots at the beginning of lines,
// trailing white space, 8-bit text, a preamble.
var aLetter = `Received: from laptop (laptop [192.0.2.1]) by client.test; Thu, 15 Jan 2026 09:30:00 +0000
From: =?utf-8?q?Ad=C3=A4?= <ada@dev.test>
To: Bob <bob@example.net>,
	"Carol, C." <carol@example.net>
Bcc: dan@example.net
Cc: eve@example.net
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= and   spaces
Message-ID: <letter.1@client.test>
Date: Thu, 15 Jan 2026 10:30:00 +0100
X-Order:  7 
Sender: somebody@elsewhere.example
X-Postrider-Tag: kind=receipt
X-Postrider-Tag: shop = west
X-Mailer: test
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="=-=-="

This is a preamble.
--=-=-=
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

Grüße, Ünïcödé 日本語  
.
..two dots
.leading
From the beginning of a line
` + strings.Repeat("long ", 190) + `
--=-=-=
Content-Type: application/pdf; name="a.pdf"
Content-Disposition: attachment; filename="a.pdf"
Content-Transfer-Encoding: base64

aGVsbG8=

--=-=-=--
An epilogue.
`

// relayedRecord is the part of GET /emails/{id} derived from the header.
type relayedRecord struct {
	Email struct {
		From, Subject, Status string
		To, CC, BCC           []string
		Tags                  []struct{ Name, Value string }
	}
}

func toWire(text string) []byte { return []byte(strings.ReplaceAll(text, "\n", "\r\n")) }

// From the final dot to the mailbox: the recipients of the envelope get the message, the body is the
// sender's byte for byte, and so is the header except for fields that must not be sent.
func TestRelayedMessageArrivesUnchanged(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	s := signIn(t, app)
	id := s.mustRelay("bounces@dev.test", []string{"bob@example.net", "dan@example.net", "eve@example.net"}, aLetter)
	waitForStatus(t, app, id, "delivered")
	var got relayedRecord
	app.Do(t, http.MethodGet, "/api/emails/"+id, nil).JSON(t, &got)
	if got.Email.From != "Adä <ada@dev.test>" || got.Email.Subject != "Grüße and   spaces" ||
		strings.Join(got.Email.To, ";") != "Bob <bob@example.net>" ||
		strings.Join(got.Email.CC, ";") != "eve@example.net" || strings.Join(got.Email.BCC, ";") != "dan@example.net" ||
		len(got.Email.Tags) != 2 {
		t.Errorf("the record: %+v", got.Email)
	}
	messages := app.MX.Messages()
	if len(messages) != 3 {
		t.Fatalf("%d messages arrived", len(messages))
	}
	header, body, _ := bytes.Cut(toWire(aLetter), []byte("\r\n\r\n"))
	for _, m := range messages {
		checkRelayed(t, app, m, header, body)
	}
}

func checkRelayed(t *testing.T, app *harness.App, m smtptest.Message, header, body []byte) {
	t.Helper()
	gotHeader, gotBody, _ := bytes.Cut(m.Data, []byte("\r\n\r\n"))
	if !bytes.Equal(gotBody, body) {
		t.Errorf("the body has changed:\n%q\n%q", gotBody, body)
	}
	if !strings.HasSuffix(m.From, "@rp.dev.test") {
		t.Errorf("the return path is %s", m.From)
	}
	var want []string
	for line := range strings.SplitSeq(string(header), "\r\n") {
		name, _, _ := strings.Cut(strings.ToLower(line), ":")
		switch name {
		case "received", "bcc", "sender", "x-postrider-tag":
		default:
			want = append(want, line)
		}
	}
	_, unsigned, _ := strings.Cut(string(gotHeader), "From: ")
	unsigned, feedback, _ := strings.Cut(unsigned, "\r\nFeedback-ID:")
	if !strings.HasPrefix(strings.TrimSpace(feedback), "receipt:dom_") || !strings.HasSuffix(feedback, ":postrider") {
		t.Errorf("the header ends with the Feedback-ID %q, want the last field, for the tag receipt", feedback)
	}
	if got := "From: " + unsigned; got != strings.Join(want, "\r\n") {
		t.Errorf("the header:\n%s\nwant\n%s", got, strings.Join(want, "\r\n"))
	}
	signatures, err := dkim.Verify(m.Data, publishedKeys(t, app))
	if err != nil || len(signatures) != 1 || signatures[0].Err != nil || signatures[0].Domain != "dev.test" {
		t.Errorf("DKIM: %+v %v", signatures, err)
	}
}
