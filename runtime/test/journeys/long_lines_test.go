package journeys_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/verbatim"
	"github.com/postrider/postrider/runtime/test/harness"
)

// A line may be as long as the message: such mail is received unchanged, and the connection remains usable.
func TestLinesOfAnyLengthAreReceived(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	c := dialInbound(t, app)
	for _, length := range []int{60_000, 65_537, 70_000, 3 << 20} {
		message := "From: bob@example.net\r\nSubject: long\r\n\r\n" + strings.Repeat("x", length) + "\r\n"
		for _, step := range []string{"MAIL FROM:<bob@example.net>\r\n", "RCPT TO:<support@dev.test>\r\n", "DATA\r\n", message + ".\r\n"} {
			if got := c.say(t, step); got[0] != '2' && got[0] != '3' {
				t.Fatalf("a line of %d bytes: after %.20q got %q", length, step, got)
			}
		}
		if got := app.Do(t, http.MethodGet, "/api/received-emails/"+lastReceived(t, app)+"/raw",
			nil); string(got.Body) != message {
			t.Errorf("a line of %d bytes is read as a message of %d bytes, want %d: %d", length, len(got.Body),
				len(message), got.Status)
		}
	}
}

// Messages of programs that do not wrap lines and write raw 8-bit fields and invalid dates are repaired: they
// arrive with short lines, an ASCII header, the same content and a valid signature.
func TestRelayMendsMessages(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	s := signIn(t, app)
	var ids strings.Builder
	for i := range 50 {
		fmt.Fprintf(&ids, " <%d.thread@example.net>", i)
	}
	for i, length := range []int{999, 60_000, 65_537, 3 << 20} {
		text := strings.Repeat("x", length)
		id := s.mustRelay("ada@dev.test", []string{"bob@example.net"}, "From: Ad\xe4 <ada@dev.test>\nDate: today\n"+
			"To: Bob <bob@example.net>; undisclosed@example.net\nReply-To:\nSubject: Gr\xfc\xdfe\nReferences:"+ids.String()+
			"\nMIME-Version: 1.0\nContent-Type: text/plain; charset=iso-8859-1\n\n"+text+" \xe4\n")
		waitForStatus(t, app, id, "delivered")
		raw := app.MX.Messages()[i].Data
		if verbatim.HasLongLine(raw) {
			t.Errorf("a line of %d bytes was sent", length)
		}
		read, err := message.Read(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if read.Text != text+" ä\r\n" || read.Subject != "Grüße" || read.From != "Adä <ada@dev.test>" ||
			len(read.References) != 50 || len(read.To) != 2 || len(read.ReplyTo) != 0 || read.Date.IsZero() {
			t.Errorf("a message with a line of %d bytes arrives as %+v", length, read)
		}
		signatures, err := dkim.Verify(raw, publishedKeys(t, app))
		if err != nil || len(signatures) != 1 || signatures[0].Err != nil {
			t.Errorf("a message with a line of %d bytes has the signatures %+v (%v)", length, signatures, err)
		}
	}
}
