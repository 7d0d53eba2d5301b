package journeys_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// A fixed key for the service and for commands on the same database, because passwords are encrypted.
const sharedKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

// attemptRoutes returns, for each attempt of an email, its outcome, its route, and the local address without the
// port.
func (s *scenario) attemptRoutes(t *testing.T, id string) []string {
	t.Helper()
	var data struct {
		Email struct {
			Attempts []struct{ Outcome, Phase, Way, LocalAddr string }
		}
	}
	s.Query(t, `{ email(id: "`+id+`") { attempts { outcome phase way localAddr } } }`, &data)
	var out []string
	for _, a := range data.Email.Attempts {
		local, _, _ := strings.Cut(a.LocalAddr, ":")
		out = append(out, joinWords(a.Outcome, a.Phase, "by", a.Way, "from", local))
	}
	return out
}

func (s *scenario) expectWays(t *testing.T, id string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.attemptRoutes(t, id)); diff != "" {
		t.Errorf("attempts of %s (-want +got):\n%s", id, diff)
	}
}

// Mail is sent from a source address, and its sessions are counted for TLS reports.
func TestMailIsSentFromSourceAddress(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	secure, plain := s.startServer(t, 40, smtptest.Config{TLS: smtptest.StartTLS}), s.startServer(t, 41,
		smtptest.Config{})
	s.mailHosts(t, "secure.test", 40)
	s.mailHosts(t, "clear.test", 41)
	before := s.sendMessage(t, []string{"bob@clear.test"})
	s.expect(t, before, deliveredStory("delivered dot 250 2.0.0 mx1"))
	s.expectWays(t, before, "delivered dot by from 127.0.0.1")

	s.Operate(t, sharedKey, func(o harness.Operator) {
		if _, err := o.Outbound.AddSource(t.Context(),
			outbound.SourceInput{Address: "127.0.0.77", Hostname: "out77.test", Pool: "shared"}); err != nil {
			t.Fatal(err)
		}
	})
	id := ""
	harness.Eventually(t, "a message from the new source", func() bool {
		id = s.sendMessage(t, []string{"bob@secure.test"})
		s.expect(t, id, deliveredStory("delivered dot 250 2.0.0 mx1"))
		return !strings.HasSuffix(s.attemptRoutes(t, id)[0], "from 127.0.0.1")
	})
	s.expectWays(t, id, "delivered dot by 127.0.0.77 from 127.0.0.77")
	got := secure.Messages()
	if last := got[len(got)-1]; last.Remote != "127.0.0.77" || last.Helo != "out77.test" || !last.TLS {
		t.Errorf("received from %s (%s), TLS %t", last.Remote, last.Helo, last.TLS)
	}
	if first := plain.Messages()[0]; first.Remote != "127.0.0.1" || first.Helo != "postrider.test" {
		t.Errorf("previous message: from %s (%s)", first.Remote, first.Helo)
	}

	if err := s.Stop(); err != nil { // a stop stores all counts
		t.Fatal(err)
	}
	for domain, want := range map[string]int{"secure.test": secure.Stats().Connections, "clear.test": plain.Stats().
		Connections} {
		var host, policy string
		var sessions int
		if err := s.db.QueryRowContext(t.Context(),
			`SELECT min(host), min(policy), sum(sessions) FROM tls_report_counts WHERE domain = $1`, domain).Scan(&host, &policy, &sessions); err != nil {
			t.Errorf("the session counts of %s: %v, want a row", domain, err)
			continue
		}
		if sessions != want || host != "mx1."+domain || policy != "opportunistic" {
			t.Errorf("%s: %d sessions with %s under %s, want %d", domain, sessions, host, policy, want)
		}
	}
}

// The operator sets a smarthost for an account while the service runs. Its certificate is from an unknown
// authority, so it requires verify=off.
func TestAccountSmarthostTakesEffectImmediately(t *testing.T) {
	t.Parallel()
	relay := smtptest.New(t, smtptest.Config{TLS: smtptest.StartTLS, Auth: map[string]string{"shop": "hush"}})
	s := scenarioOf(t, harness.Start(t, func(c setting.RawValues) { c["POSTRIDER_MASTER_KEY"] = sharedKey }))
	s.mailHosts(t, "direct.test", 42)
	direct := s.startServer(t, 42, smtptest.Config{})
	s.expect(t, s.sendMessage(t, []string{"bob@direct.test"}), deliveredStory("delivered dot 250 2.0.0 mx1"))

	smarthost := ""
	s.Operate(t, sharedKey, func(o harness.Operator) {
		stored, err := o.Outbound.SetSmarthost(t.Context(),
			outbound.SmarthostInput{Account: s.AccountEmail, Use: "always",
				URL: secret.New(relay.URL("shop:hush") + "?verify=off")})
		if err != nil || strings.Contains(outbound.SmarthostURL(stored), "hush") {
			t.Fatalf("set a smarthost: %+v %v", stored, err)
		}
		smarthost = stored.ID
	})
	id := ""
	harness.Eventually(t, "a message through the smarthost", func() bool {
		id = s.sendMessage(t, []string{"bob@direct.test"})
		waitForStatus(t, s.App, id, "delivered")
		return relay.Stats().Accepted > 0
	})
	s.expectWays(t, id, "delivered dot by smarthost:"+relay.Addr()+" from 127.0.0.1")
	if m := relay.Messages()[0]; m.User != "shop" || !m.TLS || len(m.To) != 1 || m.To[0] != "bob@direct.test" {
		t.Errorf("the smarthost has %+v", m)
	}
	before := direct.Stats().Accepted

	s.Operate(t, sharedKey, func(o harness.Operator) {
		if err := o.Outbound.RemoveSmarthost(t.Context(), smarthost); err != nil {
			t.Fatal(err)
		}
	})
	harness.Eventually(t, "a message by direct delivery again", func() bool {
		waitForStatus(t, s.App, s.sendMessage(t, []string{"bob@direct.test"}), "delivered")
		return direct.Stats().Accepted > before
	})
}

// A receiver that rejects connections from this address gets the message through the fallback smarthost,
// with the next attempt, which is immediate.
func TestBlockedMailUsesFallback(t *testing.T) {
	t.Parallel()
	relay := smtptest.New(t, smtptest.Config{})
	s := scenarioOf(t, harness.Start(t, func(c setting.RawValues) { c["POSTRIDER_FALLBACK"] = relay.URL("") }))
	blocking := s.startServer(t, 43, smtptest.Config{})
	blocking.Always(smtptest.Greeting, "", smtptest.Reply(554, "5.7.1", "Your address is on our blocklist"))
	s.mailHosts(t, "blocking.test", 43)
	s.mailHosts(t, "open.test", 44)
	s.startServer(t, 44, smtptest.Config{})

	id := s.sendMessage(t, []string{"bob@blocking.test"})
	waitForStatus(t, s.App, id, "delivered")
	s.expectWays(t, id, "deferred greeting by from 127.0.0.1", "delivered dot by smarthost:"+relay.Addr()+
		" from 127.0.0.1")
	if m := relay.Messages(); len(m) != 1 || len(blocking.Messages()) != 0 {
		t.Errorf("the fallback has %+v", m)
	}
	other := s.sendMessage(t, []string{"bob@open.test"})
	s.expect(t, other, deliveredStory("delivered dot 250 2.0.0 mx1"))
	s.expectWays(t, other, "delivered dot by from 127.0.0.1")
}
