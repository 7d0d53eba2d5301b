package smtpclient_test

import (
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

func envelopeFor(way smtpclient.Way) smtpclient.Envelope {
	e := envelope
	e.Way = way
	return e
}

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

func TestAWayHasItsAddressAndItsHostname(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	ways := []smtpclient.Way{
		{},
		{Label: "127.0.0.2", LocalAddrs: []netip.Addr{addr("2001:db8::2"), addr("127.0.0.2")}, Hostname: "out2.test"},
		{Label: "127.0.0.3", LocalAddrs: []netip.Addr{addr("127.0.0.3")}, Hostname: "out3.test"},
	}
	for i, want := range []struct{ local, helo string }{{"127.0.0.1", "client.test"}, {"127.0.0.2", "out2.test"},
		{"127.0.0.3", "out3.test"}} {
		for range 2 { // on one connection
			got := w.Deliver(t.Context(), envelopeFor(ways[i]), []byte(message), nil)
			expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
			if !strings.HasPrefix(got.LocalAddr, want.local+":") {
				t.Errorf("from %s, want %s", got.LocalAddr, want.local)
			}
			if m := server.Messages(); m[len(m)-1].Helo != want.helo || m[len(m)-1].Connection != i+1 {
				t.Errorf("%+v, want %s on connection %d", m[len(m)-1], want.helo, i+1)
			}
		}
	}
}

func TestTargetsOfAFamilyWithoutSourceAddressAreSkipped(t *testing.T) {
	t.Parallel()
	_, w := newOneHost(t, smtptest.Config{})
	w.dns.Add(t, "example.test. 300 IN MX 5 six.test.", "six.test. 300 IN AAAA 2001:db8::1",
		"only.test. 300 IN MX 5 six.test.")
	way := smtpclient.Way{Label: "127.0.0.2", LocalAddrs: []netip.Addr{addr("127.0.0.2")}}
	got := w.Deliver(t.Context(), envelopeFor(way), []byte(message), nil)
	expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
	e := envelopeFor(way)
	e.To = "bob@only.test"
	got = w.Deliver(t.Context(), e, []byte(message), nil)
	expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseConnect)
	if !strings.Contains(got.Diagnostic(), "no address of that family") || got.RemoteHost != "six.test" {
		t.Errorf("a route without the address family of the target returned %+v, want a diagnostic that says so and the host six.test", got)
	}
}

// A source address that this machine does not have fails immediately for every target of its family, and is not
// retried with each message. Control counts the attempts.
func TestAFamilyWithoutARouteIsNotDialledForAWhile(t *testing.T) {
	t.Parallel()
	var dialled atomic.Int64
	w := newWorld(t, 25, func(c *smtpclient.Config) {
		c.Control = func(string, string, syscall.RawConn) error { dialled.Add(1); return nil }
	})
	w.hosts(t, "example.test", "203.0.113.1", "203.0.113.2")
	way := smtpclient.Way{Label: "192.0.2.99", LocalAddrs: []netip.Addr{addr("192.0.2.99")}}
	for range 2 {
		got := w.Deliver(t.Context(), envelopeFor(way), []byte(message), nil)
		expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseConnect)
		if !strings.Contains(got.Diagnostic(), "no route") {
			t.Errorf("diagnostic %q", got.Diagnostic())
		}
	}
	if n := dialled.Load(); n < 1 || n > 3 { // net.Dialer tries a missing address three times
		t.Errorf("dialled %d times", n)
	}
}

func TestAWayMayBeASmarthost(t *testing.T) {
	t.Parallel()
	direct, w := newOneHost(t, smtptest.Config{})
	relay := smtptest.New(t, smtptest.Config{Auth: map[string]string{"a": "pa", "b": "pb"}, AuthInTheClear: true})
	for i, user := range []string{"a", "b", "a"} {
		host := &smtpclient.Smarthost{Host: relay.Host(), Port: relay.Port(), Username: user, Password: "p" + user}
		got := w.Deliver(t.Context(), envelopeFor(smtpclient.Way{Smarthost: host}), []byte(message), nil)
		expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
		// One customer's mail never goes out under another's name.
		if m := relay.Messages()[i]; m.User != user {
			t.Errorf("sent as %q, want %q", m.User, user)
		}
	}
	if n := relay.Stats().Connections; n != 2 || direct.Stats().Connections != 0 {
		t.Errorf("%d connections", n)
	}
	expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
	if n := direct.Stats().Messages; n != 1 {
		t.Errorf("%d messages went directly", n)
	}
}

func TestSmarthostHasItsOwnLane(t *testing.T) {
	t.Parallel()
	registry := lane.New(lane.Config{Connections: 9})
	relay := smtptest.New(t, smtptest.Config{})
	w := newWorld(t, 25, func(c *smtpclient.Config) { c.Lanes = registry })
	host := &smtpclient.Smarthost{Host: relay.Host(), Port: relay.Port()}
	got := w.Deliver(t.Context(), envelopeFor(smtpclient.Way{Smarthost: host}), []byte(message), nil)
	expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
	states := registry.Snapshot()
	if len(states) != 1 || states[0].Way != lane.SmarthostWay(relay.Addr()) || states[0].Window != 9 ||
		states[0].Delivered != 1 {
		t.Errorf("the lanes are %+v, want the one of the smarthost with a window of 9 and 1 delivered", states)
	}
}

// A mail host with only an IPv6 address, which this machine may be unable to reach, is skipped if another host
// has an IPv4 address, regardless of preference.
func TestUnreachableIPv6OnlyHostIsSkipped(t *testing.T) {
	t.Parallel()
	server, w := newOneHost(t, smtptest.Config{})
	w.dns.Add(t, "six.test. 300 IN AAAA 2001:db8::1", "mixed.test. 300 IN MX 5 six.test.",
		"mixed.test. 300 IN MX 10 mx1.example.test.",
		"equal.test. 300 IN MX 10 six.test.", "equal.test. 300 IN MX 10 mx1.example.test.")
	for _, domain := range []string{"mixed.test", "equal.test"} {
		e := envelope
		e.To = "bob@" + domain
		got := w.Deliver(t.Context(), e, []byte(message), nil)
		expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
		if got.RemoteHost != "mx1.example.test" {
			t.Errorf("%s went to %s", domain, got.RemoteHost)
		}
	}
	if n := server.Stats().Accepted; n != 2 {
		t.Errorf("%d messages arrived", n)
	}
}
