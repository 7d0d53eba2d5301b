package journeys_test

import (
	"bytes"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// A server without 8BITMIME gets the message in 7 bits (RFC 6152 section 3), with the same text and a valid
// signature; one that supports it gets the sender's bytes.
func TestRelayedMessageIsEncodedWithout8BITMIME(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	old := smtptest.New(t, smtptest.Config{NoEightBit: true,
		Addr: net.JoinHostPort("127.0.0.2", strconv.Itoa(app.MX.Port()))})
	app.DNS.Add(t, "old.example. 60 IN MX 10 mx.old.example.", "mx.old.example. 60 IN A 127.0.0.2")
	id := signIn(t, app).mustRelay("ada@dev.test", []string{"bob@example.net", "dan@old.example"}, aLetter)
	waitForStatus(t, app, id, "delivered")
	if strings.Contains(old.Transcript(), "BODY=") || !strings.Contains(app.MX.Transcript(), "BODY=8BITMIME") {
		t.Errorf("dialogue with the old server:\n%s\nand with the other:\n%s", old.Transcript(), app.MX.Transcript())
	}
	sent, arrived := app.MX.Messages()[0].Data, old.Messages()[0].Data
	if bytes.ContainsFunc(arrived, func(r rune) bool { return r > 127 }) || bytes.Contains(sent, []byte("Grüße, =")) ||
		!bytes.Contains(sent, []byte("Grüße, Ünïcödé 日本語")) {
		t.Errorf("7-bit:\n%s\n8-bit:\n%s", arrived, sent)
	}
	want, err := message.Read(bytes.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	got, err := message.Read(bytes.NewReader(arrived))
	if err != nil || got.Text != want.Text || !strings.Contains(got.Text, "Ünïcödé 日本語  \r\n.\r\n") &&
		!strings.Contains(got.Text, "Ünïcödé 日本語  \n.\n") || got.Subject != want.Subject || len(got.Files) != 1 {
		t.Errorf("%v: decodes to\n%q\nwant\n%q", err, got.Text, want.Text)
	}
	for _, raw := range [][]byte{sent, arrived} {
		if signatures, err := dkim.Verify(raw, publishedKeys(t, app)); err != nil || len(signatures) != 1 ||
			signatures[0].Err != nil {
			t.Errorf("DKIM: %+v %v", signatures, err)
		}
	}
}
