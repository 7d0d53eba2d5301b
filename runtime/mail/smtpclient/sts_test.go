package smtpclient_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/mail/mtasts"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/web/egress"
)

// recorder records reports.
type recorder struct {
	mu  sync.Mutex
	got []smtpclient.TLSReport
}

func (r *recorder) Report(report smtpclient.TLSReport) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, report)
}

func (r *recorder) expect(t *testing.T, want ...smtpclient.TLSReport) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(want, r.got); diff != "" {
		t.Errorf("reports: %s", diff)
	}
}

// receiver is a domain with two mail hosts and a policy server. httptest has a
// certificate for every host of example.com.
type receiver struct {
	world
	first, second *smtptest.Server
	reports       *recorder
	policy        atomic.Value // string
	fetches       atomic.Int32
}

const stsDomain = "example.com"

var stsEnvelope = smtpclient.Envelope{From: "bounce@sender.test", To: "bob@" + stsDomain}

// policyLines returns the policy that a receiver serves.
func policyLines(mode string, hosts ...string) string {
	return "version: STSv1\nmode: " + mode + "\nmx: " + strings.Join(hosts, "\nmx: ") + "\nmax_age: 604800\n"
}

func newReceiver(t *testing.T, policy string, first, second smtptest.TLS) *receiver {
	t.Helper()
	r := &receiver{reports: &recorder{}}
	r.policy.Store(policy)
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		r.fetches.Add(1)
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, r.policy.Load().(string))
	}))
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.StartTLS()
	t.Cleanup(web.Close)
	r.first = smtptest.New(t, smtptest.Config{Hostname: "mx1.example.com", TLS: first})
	r.second = smtptest.New(t, smtptest.Config{Hostname: "mx2.example.com", TLS: second,
		Addr: fmt.Sprintf("127.0.0.2:%d", r.first.Port())})
	trusted := x509.NewCertPool()
	trusted.AddCert(web.Certificate())
	for _, s := range []*smtptest.Server{r.first, r.second} {
		if _, authority := s.Certificates(); authority != nil {
			trusted.AddCert(authority)
		}
	}
	r.world = newWorld(t, r.first.Port(), func(c *smtpclient.Config) {
		c.RootCAs, c.Reports, c.STS = trusted, r.reports, finder(t, c, web.URL, trusted)
	})
	r.hosts(t, stsDomain, "127.0.0.1", "127.0.0.2")
	r.dns.Add(t, "mta-sts.example.com. 300 IN A 127.0.0.1", `_mta-sts.example.com. 0 IN TXT "v=STSv1; id=1"`)
	return r
}

func finder(t *testing.T, c *smtpclient.Config, webURL string, trusted *x509.CertPool) *mtasts.Finder {
	t.Helper()
	at, err := url.Parse(webURL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(at.Port())
	if err != nil {
		t.Fatal(err)
	}
	f, err := mtasts.New(mtasts.Config{Resolver: c.Resolver, Port: port, Client: egress.NewClient(egress.ClientConfig{
		Guard: egress.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}), RootCAs: trusted,
		Lookup: c.Resolver.LookupIP})})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (r *receiver) send(t *testing.T, mode string) smtpclient.Outcome {
	t.Helper()
	env := stsEnvelope
	env.TLSMode = mode
	return r.Deliver(t.Context(), env, []byte(message), nil)
}

func expectPolicy(t *testing.T, got smtpclient.Outcome, policy smtpclient.TLSPolicy, host string) {
	t.Helper()
	if got.TLSPolicy != policy || got.RemoteHost != host {
		t.Errorf("policy %q at %s, want %q at %s", got.TLSPolicy, got.RemoteHost, policy, host)
	}
}

func TestSTSEnforceDeliversToAVerifiedHost(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, policyLines("enforce", "mx1.example.com", "mx2.example.com"), smtptest.StartTLS,
		smtptest.StartTLS)
	for range 2 {
		got := r.send(t, "")
		expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
		expectPolicy(t, got, smtpclient.PolicySTS, "mx1.example.com")
	}
	if s := r.first.Stats(); s.Connections != 1 || r.fetches.Load() != 1 {
		t.Errorf("%d connections, %d fetches", s.Connections, r.fetches.Load())
	}
	r.reports.expect(t, smtpclient.TLSReport{Domain: stsDomain, Host: "mx1.example.com", Policy: smtpclient.PolicySTS})
}

func TestSTSEnforceSkipsAnUnverifiedHost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tls    smtptest.TLS
		result string
	}{
		"no STARTTLS":  {smtptest.NoTLS, "starttls-not-supported"},
		"another name": {smtptest.WrongName, "certificate-host-mismatch"},
		"broken":       {smtptest.BrokenTLS, "validation-failure"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t, policyLines("enforce", "*.example.com"), c.tls, smtptest.StartTLS)
			got := r.send(t, "")
			expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
			expectPolicy(t, got, smtpclient.PolicySTS, "mx2.example.com")
			if len(r.first.Messages()) != 0 || strings.Contains(r.first.Transcript(), "MAIL") {
				t.Error("the message was offered to the first host")
			}
			r.reports.expect(t, smtpclient.TLSReport{Domain: stsDomain, Host: "mx1.example.com",
				Policy: smtpclient.PolicySTS, Result: c.result},
				smtpclient.TLSReport{Domain: stsDomain, Host: "mx2.example.com", Policy: smtpclient.PolicySTS})
		})
	}
}

func TestSTSEnforceIsTemporaryIfNoHostIsVerified(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, policyLines("enforce", "*.example.com"), smtptest.NoTLS, smtptest.WrongName)
	got := r.send(t, "")
	expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseStartTLS)
	if !strings.Contains(got.Diagnostic(), "the receiver's mta-sts policy is not met") ||
		len(r.first.Messages())+len(r.second.Messages()) != 0 {
		t.Errorf("error %v", got.Err)
	}
	// The receiver withdraws its policy under a new id, and mail is delivered (RFC 8461, 5.1).
	r.policy.Store("version: STSv1\nmode: none\nmax_age: 60\n")
	r.dns.Set(t, "_mta-sts.example.com", `_mta-sts.example.com. 0 IN TXT "v=STSv1; id=2"`)
	expect(t, r.send(t, ""), smtpclient.Delivered, "", smtpclient.PhaseDot)
}

func TestSTSEnforceSkipsHostsThatThePolicyDoesNotName(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, policyLines("enforce", "mx2.example.com"), smtptest.StartTLS, smtptest.StartTLS)
	got := r.send(t, "")
	expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
	expectPolicy(t, got, smtpclient.PolicySTS, "mx2.example.com")
	if n := r.first.Stats().Connections; n != 0 {
		t.Errorf("%d connections to a host outside the policy", n)
	}
	r.reports.expect(t, smtpclient.TLSReport{Domain: stsDomain, Host: "mx1.example.com", Policy: smtpclient.PolicySTS,
		Result: "validation-failure"},
		smtpclient.TLSReport{Domain: stsDomain, Host: "mx2.example.com", Policy: smtpclient.PolicySTS})
}

func TestSTSEnforceIsTemporaryIfThePolicyNamesNoHost(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, policyLines("enforce", "mx.elsewhere.test"), smtptest.StartTLS, smtptest.StartTLS)
	got := r.send(t, "")
	expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseDNS)
	expectPolicy(t, got, smtpclient.PolicySTS, "mx2.example.com")
	if !strings.Contains(got.Diagnostic(),
		"the MTA-STS policy of example.com does not name the mail host mx2.example.com") {
		t.Errorf("diagnostic %q", got.Diagnostic())
	}
	if r.first.Stats().Connections+r.second.Stats().Connections != 0 {
		t.Error("a host outside the policy was dialled")
	}
}

func TestSTSTestingDeliversAndReports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tls    smtptest.TLS
		hosts  string
		result []string
	}{
		"fine":         {smtptest.StartTLS, "mx1.example.com", []string{""}},
		"no STARTTLS":  {smtptest.NoTLS, "mx1.example.com", []string{"starttls-not-supported"}},
		"another name": {smtptest.WrongName, "mx1.example.com", []string{"certificate-host-mismatch"}},
		"broken":       {smtptest.BrokenTLS, "mx1.example.com", []string{"validation-failure"}},
		"not named":    {smtptest.StartTLS, "mx9.example.com", []string{"validation-failure", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t, policyLines("testing", c.hosts), c.tls, smtptest.StartTLS)
			got := r.send(t, "")
			expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
			expectPolicy(t, got, smtpclient.PolicyOpportunistic, "mx1.example.com")
			var want []smtpclient.TLSReport
			for _, result := range c.result {
				want = append(want, smtpclient.TLSReport{Domain: stsDomain, Host: "mx1.example.com",
					Policy: smtpclient.PolicySTS, Testing: true, Result: result})
			}
			r.reports.expect(t, want...)
		})
	}
}

// A connection that was opened without requirements must not carry a message whose receiver requires a
// certificate, nor a message whose policy does not name the host.
func TestSTSDoesNotShareConnectionsOfWeakerPolicies(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, policyLines("enforce", "mx1.example.com"), smtptest.WrongName, smtptest.NoTLS)
	r.dns.Add(t, "plain.test. 300 IN MX 10 mx1.example.com.", "plain.test. 300 IN MX 20 mx2.example.com.")
	got := r.Deliver(t.Context(), smtpclient.Envelope{To: "bob@plain.test"}, []byte(message), nil)
	expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
	expectPolicy(t, got, smtpclient.PolicyOpportunistic, "mx1.example.com")
	if got := r.send(t, ""); got.Kind != smtpclient.Temporary || got.TLSPolicy != smtpclient.PolicySTS {
		t.Errorf("got %+v", got)
	}
}

// An idle connection is not reused if a newer policy does not name its host.
func TestSTSDropsIdleConnectionsWhenThePolicyChanges(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, policyLines("enforce", "mx1.example.com", "mx2.example.com"), smtptest.StartTLS,
		smtptest.StartTLS)
	expectPolicy(t, r.send(t, ""), smtpclient.PolicySTS, "mx1.example.com")
	r.policy.Store(policyLines("enforce", "mx2.example.com"))
	r.dns.Set(t, "_mta-sts.example.com", `_mta-sts.example.com. 0 IN TXT "v=STSv1; id=2"`)
	expectPolicy(t, r.send(t, ""), smtpclient.PolicySTS, "mx2.example.com")
}

func TestEnvelopeRequirementTakesPrecedenceOverThePolicy(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, policyLines("enforce", "*.example.com"), smtptest.NoTLS, smtptest.NoTLS)
	got := r.send(t, smtpclient.TLSEnforced)
	expect(t, got, smtpclient.Failed, smtpclient.ReasonTLSRequired, smtpclient.PhaseStartTLS)
	expectPolicy(t, got, smtpclient.PolicyEnforced, "mx2.example.com")
}

func TestUnfetchablePolicyIsReportedButNotEnforced(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, "no policy", smtptest.StartTLS, smtptest.StartTLS)
	got := r.send(t, "")
	expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
	r.reports.expect(t, smtpclient.TLSReport{Domain: stsDomain, Policy: smtpclient.PolicySTS,
		Result: "sts-policy-invalid"},
		smtpclient.TLSReport{Domain: stsDomain, Host: "mx1.example.com", Policy: smtpclient.PolicyOpportunistic})
}

// An alias has the policy of its own name and not that of its target.
func TestThePolicyIsThatOfTheRecipientsDomain(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, policyLines("enforce", "mx.elsewhere.test"), smtptest.NoTLS, smtptest.NoTLS)
	r.dns.Add(t, "alias.test. 300 IN CNAME example.com.")
	got := r.Deliver(t.Context(), smtpclient.Envelope{To: "bob@alias.test"}, []byte(message), nil)
	expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
}

// away is a finder that fails with the error of a canceled caller.
type away struct{}

func (away) Policy(_ context.Context, _ string) (*mtasts.Policy, error) {
	return nil, errors.New("away")
}

func TestPoliciesAreNotUsedWithASmarthost(t *testing.T) {
	t.Parallel()
	reports := &recorder{}
	server := smtptest.New(t, smtptest.Config{})
	w := newWorld(t, 25, func(c *smtpclient.Config) {
		host, err := smtpclient.ParseSmarthost(server.URL(""))
		if err != nil {
			t.Fatal(err)
		}
		c.Smarthost, c.STS, c.Reports = host, away{}, reports
	})
	expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
	reports.expect(t)
}
