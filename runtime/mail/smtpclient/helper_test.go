package smtpclient_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/web/egress"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const message = "From: a@sender.test\r\nTo: bob@example.test\r\nSubject: hello\r\n\r\nHello.\r\n"

var envelope = smtpclient.Envelope{From: "bounce@sender.test", To: "bob@example.test"}

// world is a DNS server and a transport; mail hosts share one port on 127.0.0.x.
type world struct {
	dns *dnsxtest.Server
	*smtpclient.Transport
}

func newWorld(t testing.TB, port int, shape ...func(*smtpclient.Config)) world {
	t.Helper()
	dns := dnsxtest.New(t)
	resolver, err := dnsx.New(dnsx.Config{Server: dns.Addr(), Timeout: 20 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	guard := egress.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	cfg := smtpclient.Config{Hostname: "client.test", Resolver: resolver, Control: guard.Control, MXPort: port}
	for _, f := range shape {
		f(&cfg)
	}
	transport, err := smtpclient.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.Close)
	return world{dns, transport}
}

// hosts publishes servers as the mail hosts of a domain, most preferred first.
func (w world) hosts(t testing.TB, domain string, addrs ...string) {
	t.Helper()
	for i, addr := range addrs {
		w.dns.Add(t, fmt.Sprintf("%s. 300 IN MX %d mx%d.%s.", domain, 10*(i+1), i+1, domain),
			fmt.Sprintf("mx%d.%s. 300 IN A %s", i+1, domain, addr))
	}
}

// withLanes configures a transport whose lanes have the profiles of these rows.
func withLanes(t testing.TB, rows ...string) func(*smtpclient.Config) {
	t.Helper()
	profiles, err := lane.BuiltIn().Extend(strings.NewReader(strings.Join(rows, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return func(c *smtpclient.Config) { c.Lanes = lane.New(lane.Config{Profiles: profiles}) }
}

// newOneHost starts a server that is the mail host of example.test, and a transport that finds it.
func newOneHost(t testing.TB, cfg smtptest.Config, shape ...func(*smtpclient.Config)) (*smtptest.Server, world) {
	t.Helper()
	cfg.Hostname = "mx1.example.test"
	server := smtptest.New(t, cfg)
	trust := func(c *smtpclient.Config) { c.RootCAs = server.RootCAs() }
	w := newWorld(t, server.Port(), append([]func(*smtpclient.Config){trust}, shape...)...)
	w.hosts(t, "example.test", server.Host())
	return server, w
}

// newTwoHosts starts two servers on one port and two addresses: the first and the second mail host.
func newTwoHosts(t testing.TB, cfg smtptest.Config) (first, second *smtptest.Server, w world) {
	t.Helper()
	first, w = newOneHost(t, cfg)
	cfg.Addr = fmt.Sprintf("127.0.0.2:%d", first.Port())
	cfg.Hostname = "mx2.example.test"
	second = smtptest.New(t, cfg)
	w.dns.Add(t, "example.test. 300 IN MX 20 mx2.example.test.", "mx2.example.test. 300 IN A 127.0.0.2")
	return first, second, w
}

func (w world) send(t testing.TB) smtpclient.Outcome {
	t.Helper()
	return w.Deliver(t.Context(), envelope, []byte(message), nil)
}

// expect compares the fields that callers branch on.
func expect(t testing.TB, got smtpclient.Outcome, kind smtpclient.OutcomeKind, reason smtpclient.FailureReason,
	phase smtpclient.Phase) {
	t.Helper()
	if got.Kind != kind || got.Reason != reason || got.Phase != phase {
		t.Errorf("got %s/%s at %s, want %s/%s at %s\n%+v", got.Kind, got.Reason, got.Phase, kind, reason, phase, got)
	}
	if (got.Err == nil) != (got.Kind == smtpclient.Delivered) {
		t.Errorf("%s with error %v", got.Kind, got.Err)
	}
}

func expectReply(t testing.TB, got smtpclient.Outcome, code int, enhanced, text string) {
	t.Helper()
	if got.Code != code || got.EnhancedCode != enhanced || !strings.Contains(got.Reply, text) {
		t.Errorf("got reply %d %q %q, want %d %q %q", got.Code, got.EnhancedCode, got.Reply, code, enhanced, text)
	}
}
