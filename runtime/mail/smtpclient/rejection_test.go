package smtpclient_test

import (
	"errors"
	"testing"

	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

func TestRejectionsByPhase(t *testing.T) {
	t.Parallel()
	const (
		tmp  = smtpclient.Temporary
		perm = smtpclient.Permanent
		fail = smtpclient.Failed
	)
	for name, c := range map[string]struct {
		at       smtptest.Phase
		code     int
		enhanced string
		kind     smtpclient.OutcomeKind
		reason   smtpclient.FailureReason
		phase    smtpclient.Phase
	}{
		"greeting 421":           {smtptest.Greeting, 421, "4.3.2", tmp, "", smtpclient.PhaseGreeting},
		"greeting 554":           {smtptest.Greeting, 554, "5.7.1", tmp, "", smtpclient.PhaseGreeting},
		"ehlo 451":               {smtptest.EHLO, 451, "4.3.0", tmp, "", smtpclient.PhaseEHLO},
		"ehlo 550":               {smtptest.EHLO, 550, "5.7.1", tmp, "", smtpclient.PhaseEHLO},
		"mail 451":               {smtptest.Mail, 451, "4.7.1", tmp, "", smtpclient.PhaseMail},
		"mail 550":               {smtptest.Mail, 550, "5.7.1", perm, "", smtpclient.PhaseMail},
		"mail 552 size":          {smtptest.Mail, 552, "5.3.4", fail, smtpclient.ReasonMessageTooLarge, smtpclient.PhaseMail},
		"mail 552 bare":          {smtptest.Mail, 552, "", fail, smtpclient.ReasonMessageTooLarge, smtpclient.PhaseMail},
		"rcpt 450 greylisted":    {smtptest.Rcpt, 450, "4.2.0", tmp, "", smtpclient.PhaseRcpt},
		"rcpt 550 unknown":       {smtptest.Rcpt, 550, "5.1.1", perm, "", smtpclient.PhaseRcpt},
		"rcpt 552 mailbox full":  {smtptest.Rcpt, 552, "5.2.2", perm, "", smtpclient.PhaseRcpt},
		"rcpt 552 bare":          {smtptest.Rcpt, 552, "", perm, "", smtpclient.PhaseRcpt},
		"rcpt 553 not ascii":     {smtptest.Rcpt, 553, "5.6.7", fail, smtpclient.ReasonSMTPUTF8Required, smtpclient.PhaseRcpt},
		"data 451":               {smtptest.Data, 451, "4.3.0", tmp, "", smtpclient.PhaseData},
		"data 554":               {smtptest.Data, 554, "5.7.1", perm, "", smtpclient.PhaseData},
		"dot 451":                {smtptest.Dot, 451, "4.3.0", tmp, "", smtpclient.PhaseDot},
		"dot 421":                {smtptest.Dot, 421, "4.3.2", tmp, "", smtpclient.PhaseDot},
		"dot 550 content":        {smtptest.Dot, 550, "5.7.1", perm, "", smtpclient.PhaseDot},
		"dot 552 size":           {smtptest.Dot, 552, "5.3.4", fail, smtpclient.ReasonMessageTooLarge, smtpclient.PhaseDot},
		"dot 552 bare":           {smtptest.Dot, 552, "", fail, smtpclient.ReasonMessageTooLarge, smtpclient.PhaseDot},
		"dot 552 over its quota": {smtptest.Dot, 552, "5.2.2", perm, "", smtpclient.PhaseDot},
	} {
		for _, noPipelining := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				server, w := newOneHost(t, smtptest.Config{NoPipelining: noPipelining})
				server.On(c.at, "", smtptest.Reply(c.code, c.enhanced, "because of the test"))
				got := w.send(t)
				expect(t, got, c.kind, c.reason, c.phase)
				expectReply(t, got, c.code, c.enhanced, "because of the test")
				if got.Ambiguous || got.RemoteHost != "mx1.example.test" || got.RemoteAddr != server.Addr() {
					t.Errorf("got %+v", got)
				}
				// The same recipient, when the server accepts again. If the server asked for less traffic, its
				// lane is paused, but other lanes are not.
				again := envelope
				if c.code == 421 || c.code < 500 && c.at <= smtptest.EHLO {
					if got := w.send(t); !errors.Is(got.Err, lane.ErrNoRoom) {
						t.Errorf("the lane is not paused: %+v", got)
					}
					again.Way.Label = "192.0.2.1"
				}
				expect(t, w.Deliver(t.Context(), again, []byte(message), nil), smtpclient.Delivered, "",
					smtpclient.PhaseDot)
			})
		}
	}
}

func TestRepliesOfSeveralLinesBecomeOne(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	server.On(smtptest.Rcpt, "", smtptest.Reply(550, "5.1.1",
		"The account that you tried to reach\n5.1.1 does not exist.\nSee https://help.test"))
	got := w.send(t)
	expect(t, got, smtpclient.Permanent, "", smtpclient.PhaseRcpt)
	if want := "550 The account that you tried to reach 5.1.1 does not exist. See https://help.test"; got.Reply != want {
		t.Errorf("got reply %q, want %q", got.Reply, want)
	}
}

// No reply to RCPT affects other recipients.
func TestARefusedRecipientLeavesTheConnectionUsable(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	server.Always(smtptest.Rcpt, "bob@example.test", smtptest.Reply(550, "5.1.1", "no such user"))
	carol := smtpclient.Envelope{From: envelope.From, To: "carol@example.test"}
	for range 3 {
		expect(t, w.send(t), smtpclient.Permanent, "", smtpclient.PhaseRcpt)
		expect(t, w.Deliver(t.Context(), carol, []byte(message), nil), smtpclient.Delivered, "", smtpclient.PhaseDot)
	}
	if n := server.Stats().Connections; n != 1 {
		t.Errorf("%d connections were made, want 1", n)
	}
	for _, m := range server.Messages() {
		if len(m.To) != 1 || m.To[0] != "carol@example.test" {
			t.Errorf("a message went to %v", m.To)
		}
	}
}
