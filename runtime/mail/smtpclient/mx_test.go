package smtpclient_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/web/egress"
)

func TestThePreferredHostIsUsed(t *testing.T) {
	t.Parallel()
	first, second, w := newTwoHosts(t, smtptest.Config{})
	for range 3 {
		expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
	}
	if first.Stats().Messages != 3 || second.Stats().Connections != 0 {
		t.Errorf("first %+v, second %+v", first.Stats(), second.Stats())
	}
}

func TestTheNextHostIsTriedAfterATemporaryFailure(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]struct {
		phase  smtptest.Phase
		action smtptest.Action
	}{
		"disconnects immediately": {smtptest.Greeting, smtptest.Disconnect()},
		"greets with 421":         {smtptest.Greeting, smtptest.Reply(421, "4.3.2", "too busy")},
		"greets with 554":         {smtptest.Greeting, smtptest.Reply(554, "5.7.1", "go away")},
		"refuses EHLO":            {smtptest.EHLO, smtptest.Reply(550, "5.7.1", "no")},
		"disconnects at MAIL":     {smtptest.Mail, smtptest.Disconnect()},
		"greylists":               {smtptest.Rcpt, smtptest.Reply(450, "4.2.0", "later")},
		"451 at DATA":             {smtptest.Data, smtptest.Reply(451, "4.3.0", "later")},
		"451 after the dot":       {smtptest.Dot, smtptest.Reply(451, "4.3.0", "later")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second, w := newTwoHosts(t, smtptest.Config{})
			first.Always(script.phase, "", script.action)
			got := w.send(t)
			expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
			if got.RemoteHost != "mx2.example.test" || second.Stats().Accepted != 1 {
				t.Errorf("went to %s; second %+v", got.RemoteHost, second.Stats())
			}
		})
	}
}

func TestTheNextHostIsTriedWhenTheBodyIsCutOff(t *testing.T) {
	t.Parallel()
	first, _, w := newTwoHosts(t, smtptest.Config{})
	first.On(smtptest.Body, "", smtptest.Disconnect())
	large := strings.Repeat("more than the sockets hold\r\n", 150_000)
	got := w.Deliver(t.Context(), envelope, []byte(large), nil)
	expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
	if got.RemoteHost != "mx2.example.test" || len(first.Messages()) != 0 {
		t.Errorf("went to %s", got.RemoteHost)
	}
}

func TestNoOtherHostIsTriedAfterAFinalReply(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]struct {
		phase  smtptest.Phase
		action smtptest.Action
	}{
		"unknown user": {smtptest.Rcpt, smtptest.Reply(550, "5.1.1", "unknown")},
		"too large":    {smtptest.Mail, smtptest.Reply(552, "5.3.4", "too large")},
		"reply lost":   {smtptest.Dot, smtptest.Disconnect()}, // it may have been delivered
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second, w := newTwoHosts(t, smtptest.Config{})
			first.On(script.phase, "", script.action)
			if got := w.send(t); got.Kind == smtpclient.Delivered || got.RemoteHost != "mx1.example.test" {
				t.Errorf("got %+v", got)
			}
			if n := second.Stats().Connections; n != 0 {
				t.Errorf("the second host was contacted %d times", n)
			}
		})
	}
}

func TestMostInformativeOutcomeIsReturnedWhenAllHostsFail(t *testing.T) {
	t.Parallel()
	first, second, w := newTwoHosts(t, smtptest.Config{})
	first.On(smtptest.Rcpt, "", smtptest.Reply(450, "4.2.0", "greylisted"))
	second.On(smtptest.Greeting, "", smtptest.Disconnect())
	got := w.send(t)
	expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseRcpt)
	expectReply(t, got, 450, "4.2.0", "greylisted")
	if got.RemoteHost != "mx1.example.test" {
		t.Errorf("from %s", got.RemoteHost)
	}
}

func TestHostIsReachedAtItsSecondAddress(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	w.dns.Set(t, "mx1.example.test", "mx1.example.test. 300 IN A 127.0.0.9", "mx1.example.test. 300 IN A "+
		server.Host())
	expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
}

func TestDomainWithoutMXIsItsOwnHost(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	w.dns.Add(t, "plain.test. 300 IN A "+server.Host(), "alias.test. 300 IN CNAME example.test.")
	for domain, host := range map[string]string{"plain.test": "plain.test", "alias.test": "mx1.example.test"} {
		got := w.Deliver(t.Context(), smtpclient.Envelope{To: "bob@" + domain}, []byte(message), nil)
		expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
		if got.RemoteHost != host {
			t.Errorf("%s went to %s", domain, got.RemoteHost)
		}
	}
}

// RFC 5321 section 5.1 forbids an alias there, but some domains have one, so it is followed.
func TestAnAliasInTheMXIsFollowed(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	w.dns.Add(t, "customer.test. 300 IN MX 10 mail.customer.test.",
		"mail.customer.test. 300 IN CNAME mx1.example.test.",
		"dangling.test. 300 IN MX 10 mail.dangling.test.", "mail.dangling.test. 300 IN CNAME nowhere.test.")
	e := envelope
	e.To = "bob@customer.test"
	expect(t, w.Deliver(t.Context(), e, []byte(message), nil), smtpclient.Delivered, "", smtpclient.PhaseDot)
	if got := server.Messages(); len(got) != 1 || len(got[0].To) != 1 || got[0].To[0] != e.To {
		t.Errorf("arrived: %+v", got)
	}
	e.To = "bob@dangling.test"
	expect(t, w.Deliver(t.Context(), e, []byte(message), nil), smtpclient.Temporary, "", smtpclient.PhaseDNS)
}

func TestDomainsThatAcceptNoMail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 25)
	w.dns.Add(t, "null.test. 300 IN MX 0 .", `texts.test. 300 IN TXT "no address here"`,
		"lost.test. 300 IN MX 10 nowhere.test.")
	w.dns.Fault("servfail.test", dnsxtest.ServFail)
	w.dns.Add(t, "half.test. 300 IN MX 10 broken-host.test.")
	w.dns.Fault("broken-host.test", dnsxtest.ServFail)
	for domain, want := range map[string]struct {
		kind   smtpclient.OutcomeKind
		reason smtpclient.FailureReason
		text   string
	}{
		"null.test":     {smtpclient.Failed, smtpclient.ReasonNullMX, "null.test accepts no mail"},
		"missing.test":  {smtpclient.Failed, smtpclient.ReasonNoSuchDomain, "missing.test has no mail host and no address"},
		"texts.test":    {smtpclient.Failed, smtpclient.ReasonNoSuchDomain, "texts.test has no mail host and no address"},
		"lost.test":     {smtpclient.Temporary, "", "nowhere.test"}, // the domain has an MX record, so it intends to receive mail
		"servfail.test": {smtpclient.Temporary, "", "SERVFAIL"},
		"half.test":     {smtpclient.Temporary, "", "broken-host.test"},
	} {
		got := w.Deliver(t.Context(), smtpclient.Envelope{To: "bob@" + domain}, []byte(message), nil)
		expect(t, got, want.kind, want.reason, smtpclient.PhaseDNS)
		if !strings.Contains(got.Diagnostic(), want.text) {
			t.Errorf("%s: diagnostic %q", domain, got.Diagnostic())
		}
	}
}

func TestPrivateAddressesAreRejected(t *testing.T) {
	t.Parallel()
	public := func(c *smtpclient.Config) { c.Control = egress.NewGuard(nil).Control }
	server, w := newOneHost(t, smtptest.Config{}, public)
	got := w.send(t)
	expect(t, got, smtpclient.Failed, smtpclient.ReasonPolicy, smtpclient.PhaseConnect)
	if !errors.Is(got.Err, egress.ErrRefused) ||
		!strings.Contains(got.Diagnostic(), server.Addr()+" is a private, local or reserved address") {
		t.Errorf("diagnostic %q", got.Diagnostic())
	}
	if n := server.Stats().Connections; n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestPrivateHostNextToADeadOneIsRetriedLater(t *testing.T) {
	t.Parallel()
	server := smtptest.New(t, smtptest.Config{})
	guard := egress.NewGuard(nil)
	w := newWorld(t, server.Port(), func(c *smtpclient.Config) { c.Control = guard.Control })
	w.hosts(t, "example.test", "127.0.0.1")
	w.dns.Add(t, "example.test. 300 IN MX 20 mx2.example.test.")
	w.dns.Fault("mx2.example.test", dnsxtest.ServFail)
	expect(t, w.send(t), smtpclient.Temporary, "", smtpclient.PhaseDNS)
}

func TestACancelledContextEndsTheLookup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 25)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := w.Deliver(ctx, envelope, []byte(message), nil)
	expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseDNS)
	if !errors.Is(got.Err, context.Canceled) {
		t.Errorf("error %v", got.Err)
	}
}
