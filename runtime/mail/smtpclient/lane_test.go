package smtpclient_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// withRegistry configures a transport with lanes that the test can inspect.
func withRegistry(r **lane.Registry) func(*smtpclient.Config) {
	*r = lane.New(lane.Config{})
	return func(c *smtpclient.Config) { c.Lanes = *r }
}

func TestAttemptsReportFeedbackToTheLane(t *testing.T) {
	t.Parallel()
	const delivered, refused, throttled, unreachable = "delivered", "refused", "throttled", "unreachable"
	for name, c := range map[string]struct {
		at     smtptest.Phase
		action smtptest.Action
		want   string
	}{
		"250":                         {smtptest.Dot, smtptest.Reply(250, "2.0.0", "ok"), delivered},
		"greylisting":                 {smtptest.Rcpt, smtptest.Reply(450, "4.2.0", "Greylisted, try again later"), refused},
		"unknown user":                {smtptest.Rcpt, smtptest.Reply(550, "5.1.1", "unknown"), refused},
		"bad reputation, one message": {smtptest.Mail, smtptest.Reply(554, "5.7.1", "blocked using zen.spamhaus.org"), refused},
		"421 at the greeting":         {smtptest.Greeting, smtptest.Reply(421, "4.7.0", "too busy"), throttled},
		"450 at the greeting":         {smtptest.Greeting, smtptest.Reply(450, "4.3.2", "later"), throttled},
		"bad reputation, greeting":    {smtptest.Greeting, smtptest.Reply(554, "5.7.1", "blocked using zen.spamhaus.org"), throttled},
		"421 at MAIL":                 {smtptest.Mail, smtptest.Reply(421, "4.7.0", "closing"), throttled},
		"too many messages":           {smtptest.Rcpt, smtptest.Reply(451, "4.7.1", "too many messages, slow down"), throttled},
		"immediate disconnect":        {smtptest.Greeting, smtptest.Disconnect(), unreachable},
		"disconnect at MAIL":          {smtptest.Mail, smtptest.Disconnect(), refused},
		"454 instead of the TLS":      {smtptest.Starttls, smtptest.Reply(454, "4.7.0", "not now"), delivered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var registry *lane.Registry
			server, w := newOneHost(t, smtptest.Config{TLS: smtptest.StartTLS}, withRegistry(&registry))
			server.On(c.at, "", c.action)
			if c.at == smtptest.Greeting || c.at == smtptest.Mail || c.at == smtptest.Rcpt {
				server, w = newOneHost(t, smtptest.Config{}, withRegistry(&registry))
				server.Always(c.at, "", c.action)
			}
			w.send(t)
			s := registry.Snapshot()
			if len(s) != 1 || s[0].Name != "mx1.example.test" || s[0].Active != 0 {
				t.Fatalf("after the attempt the lanes are %+v, want one for mx1.example.test without active connections", s)
			}
			got := map[string]uint64{delivered: s[0].Delivered, refused: s[0].Refused, throttled: s[0].Throttled,
				unreachable: s[0].Unreachable}
			for kind, n := range got {
				if n != 0 && kind != c.want || n != 1 && kind == c.want {
					t.Errorf("%v, want %s", got, c.want)
				}
			}
		})
	}
}

func TestUnreachableDestinationIsPaused(t *testing.T) {
	t.Parallel()
	var registry *lane.Registry
	w := newWorld(t, 1, withRegistry(&registry)) // no server listens there
	w.hosts(t, "example.test", "127.0.0.1")
	begin := time.Now()
	for range 3 {
		expect(t, w.send(t), smtpclient.Temporary, "", smtpclient.PhaseConnect)
	}
	got := w.send(t)
	expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseWait)
	if !errors.Is(got.Err, lane.ErrNoRoom) {
		t.Errorf("error %v", got.Err)
	}
	until, reason, paused := registry.PausedUntil("", "example.test")
	if left := time.Until(until); !paused || left < 20*time.Second-time.Since(begin) || left > 30*time.Second ||
		!strings.Contains(reason, "connection refused") {
		t.Errorf("paused %v for %v: %s", paused, left, reason)
	}
}

func TestDeadHostNextToAWorkingOneDoesNotPauseTheLane(t *testing.T) {
	t.Parallel()
	var registry *lane.Registry
	server, w := newOneHost(t, smtptest.Config{}, withRegistry(&registry),
		func(c *smtpclient.Config) { c.IdleAge = time.Nanosecond })
	w.dns.Add(t, "example.test. 300 IN MX 5 dead.test.", "dead.test. 300 IN A 127.0.0.9")
	for range 5 {
		expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
		server.Wait(t, "no connection kept", func(now smtptest.Stats) bool { return now.Open == 0 })
	}
	if s := registry.Snapshot(); len(s) != 1 || s[0].Delivered != 5 || s[0].Unreachable != 0 {
		t.Errorf("with one dead and one working host the lanes are %+v, want one with 5 delivered and none unreachable",
			s)
	}
}

func TestAThrottledLaneKeepsNoIdleConnections(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	server.On(smtptest.Dot, "", smtptest.Stall())
	stalled := make(chan smtpclient.Outcome, 1)
	go func() { stalled <- w.send(t) }()
	server.Wait(t, "the stall", func(now smtptest.Stats) bool { return now.Stalled == 1 })
	expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
	if n := server.Stats().Open; n != 2 {
		t.Fatalf("%d connections", n)
	}
	server.On(smtptest.Rcpt, "", smtptest.Reply(451, "4.7.1", "too many messages, slow down"))
	expect(t, w.send(t), smtpclient.Temporary, "", smtpclient.PhaseRcpt)
	server.Wait(t, "the idle connection to end", func(now smtptest.Stats) bool { return now.Open == 1 })
	server.Release()
	<-stalled
}

func TestHostsOfEqualPreferenceShareTheLoad(t *testing.T) {
	t.Parallel()
	first, second, w := newTwoHosts(t, smtptest.Config{}) // the transport of this world is not used
	shared := newWorld(t, first.Port(), withLanes(t, "default 3 3 1 10m -"))
	shared.dns.Add(t, "example.test. 300 IN MX 10 mx1.example.test.", "example.test. 300 IN MX 10 mx2.example.test.",
		"mx1.example.test. 300 IN A 127.0.0.1", "mx2.example.test. 300 IN A 127.0.0.2")
	for i := range 40 {
		to := smtpclient.Envelope{To: fmt.Sprintf("user%d@example.test", i)}
		expect(t, shared.Deliver(t.Context(), to, []byte(message), nil), smtpclient.Delivered, "", smtpclient.PhaseDot)
	}
	if a, b := first.Stats().Accepted, second.Stats().Accepted; a == 0 || b == 0 || a+b != 40 {
		t.Errorf("%d and %d", a, b)
	}
	first.Always(smtptest.Greeting, "", smtptest.Disconnect())
	for range 5 { // whichever comes first, the other takes over
		expect(t, shared.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
	}
	w.Close()
}

func TestAttemptHasATimeLimit(t *testing.T) {
	t.Parallel()
	for at, phase := range map[smtptest.Phase]smtpclient.Phase{smtptest.Greeting: smtpclient.PhaseGreeting,
		smtptest.Mail: smtpclient.PhaseMail, smtptest.Dot: smtpclient.PhaseDot} {
		var got smtpclient.Outcome
		// the attempt must get this far
		for _, longest := range []time.Duration{150 * time.Millisecond, 1500 * time.Millisecond, 15 * time.Second} {
			server, w := newOneHost(t, smtptest.Config{}, func(c *smtpclient.Config) { c.Longest = longest })
			server.On(at, "", smtptest.Stall())
			if got = w.send(t); got.Phase == phase { // the timeouts of the phases are minutes
				break
			}
		}
		expect(t, got, smtpclient.Temporary, "", phase)
		if !errors.Is(got.Err, smtpclient.ErrTooLong) || got.Ambiguous != (at == smtptest.Dot) {
			t.Errorf("an attempt over its limit in %s returned %+v, want ErrTooLong, and ambiguous: %t", phase, got,
				at == smtptest.Dot)
		}
	}
}
