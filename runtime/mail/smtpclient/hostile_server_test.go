package smtpclient_test

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// RFC 5321, 3.4: 251 accepts the recipient. mox's client treats it as a rejection and, when pipelining,
// completes an empty message.
func TestUserNotLocalIsAnAcceptance(t *testing.T) {
	t.Parallel()
	for _, ehlo := range []string{pipelining, "250 peer.test\r\n"} {
		p := newPeer(t, "220 peer.test\r\n",
			map[string]string{"EHLO": ehlo, "RCPT": "251 User not local; will forward\r\n", "DATA": "354 go\r\n"})
		expect(t, p.world(t).send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
		if !strings.Contains(p.transcript(), "\nHello.\n.\n") {
			t.Errorf("said %q", p.transcript())
		}
	}
}

// RFC 2920, 3.1: such servers exist; a dot here would deliver an empty message.
func TestNoDotAfter354WithoutRecipients(t *testing.T) {
	t.Parallel()
	p := newPeer(t, "220 peer.test\r\n", map[string]string{"EHLO": pipelining, "RCPT": "550 5.1.1 unknown\r\n",
		"DATA": "354 go\r\n"})
	w := p.world(t)
	for range 2 { // the server reads everything that this connection sends next as a message
		expect(t, w.send(t), smtpclient.Permanent, "", smtpclient.PhaseRcpt)
	}
	if strings.Contains(p.transcript(), "\n.\n") || strings.Contains(p.transcript(), "RSET") ||
		strings.Count(p.transcript(), "EHLO") != 2 {
		t.Errorf("said %q", p.transcript())
	}
}

func TestServersThatDoNotSpeakSMTP(t *testing.T) {
	t.Parallel()
	for what, greeting := range map[string]string{
		"http":          "HTTP/1.1 400 Bad Request\r\n\r\n",
		"endless line":  "220 " + strings.Repeat("x", 400<<10),
		"endless reply": strings.Repeat("220-x\r\n", 100<<10),
		"mixed codes":   "220-a\r\n554 b\r\n",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			server, w := newOneHost(t, smtptest.Config{})
			server.Always(smtptest.Greeting, "", smtptest.Raw(greeting))
			expect(t, w.send(t), smtpclient.Temporary, "", smtpclient.PhaseGreeting)
		})
	}
}

func TestInvalidRepliesDuringATransaction(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		verb, answer string
		phase        smtpclient.Phase
		ambiguous    bool
	}{
		"mail garbage":      {"MAIL", "what?\r\n", smtpclient.PhaseMail, false},
		"mail 354":          {"MAIL", "354 go\r\n", smtpclient.PhaseMail, false},
		"rcpt endless":      {"RCPT", strings.Repeat("250-x\r\n", 50<<10), smtpclient.PhaseRcpt, false},
		"data 250":          {"DATA", "250 ok\r\n", smtpclient.PhaseData, false},
		"dot garbage":       {".", "fine\r\n", smtpclient.PhaseDot, true},
		"dot 354":           {".", "354 more\r\n", smtpclient.PhaseDot, true},
		"dot mixed":         {".", "250-ok\r\n550 no\r\n", smtpclient.PhaseDot, true},
		"dot endless reply": {".", strings.Repeat("250-x\r\n", 50<<10), smtpclient.PhaseDot, true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			answers := map[string]string{"EHLO": "250 peer.test\r\n", "DATA": "354 go\r\n"}
			answers[c.verb] = c.answer
			p := newPeer(t, "220 peer.test\r\n", answers)
			got := p.world(t).send(t)
			expect(t, got, smtpclient.Temporary, "", c.phase)
			if got.Ambiguous != c.ambiguous {
				t.Errorf("ambiguous %v, want %v", got.Ambiguous, c.ambiguous)
			}
		})
	}
}

func TestConnectionWithUnexpectedDataIsNotReused(t *testing.T) {
	t.Parallel()
	p := newPeer(t, "220 peer.test\r\n", map[string]string{"EHLO": "250 peer.test\r\n", "DATA": "354 go\r\n",
		".": "250 first\r\n550 and a word for the next\r\n"})
	w := p.world(t)
	for range 2 {
		expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
	}
	if n := strings.Count(p.transcript(), "EHLO"); n != 2 {
		t.Errorf("%d sessions, want 2", n)
	}
}

func TestServersWithoutEHLOAreGreetedWithHELO(t *testing.T) {
	t.Parallel()
	p := newPeer(t, "220 peer.test\r\n", map[string]string{"EHLO": "502 not here\r\n", "DATA": "354 go\r\n"})
	expect(t, p.world(t).send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
	if !strings.Contains(p.transcript(), "HELO client.test\nMAIL FROM:<bounce@sender.test>\n") {
		t.Errorf("said %q", p.transcript())
	}
}
