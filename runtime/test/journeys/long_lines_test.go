package journeys_test

import (
	"net/http"
	"strings"
	"testing"

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

// The relay permanently rejects a line over 998 bytes with the reason, however long it is, and the
// connection remains usable.
func TestRelayRejectsLongLines(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	s := signIn(t, app)
	for _, length := range []string{"999", "60000", "65537", "70000", "3000000"} {
		n := 0
		for _, digit := range length {
			n = 10*n + int(digit-'0')
		}
		s.say("MAIL FROM:<ada@dev.test>\r\nRCPT TO:<bob@example.net>\r\nDATA\r\n")
		s.expect("250 ")
		s.expect("250 ")
		s.expect("354 ")
		s.say("%s", "From: ada@dev.test\r\n\r\n"+strings.Repeat("x", n)+"\r\n.\r\n")
		s.expect("554 5.6.0 The message cannot be sent: line 3 has " + length + " bytes; the limit is 998")
	}
	s.mustRelay("ada@dev.test", []string{"bob@example.net"}, plainMessage("ada@dev.test", "bob@example.net"))
}
