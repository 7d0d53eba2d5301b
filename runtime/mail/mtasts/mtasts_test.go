package mtasts_test

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
	"time"

	"go.uber.org/goleak"

	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/mail/mtasts"
	"github.com/postrider/postrider/runtime/web/egress"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// httptest has a certificate for every host of this domain.
const domain = "example.com"

// world is a DNS server, an HTTPS server and a finder with an adjustable clock.
type world struct {
	*mtasts.Finder
	dns *dnsxtest.Server

	mu     sync.Mutex
	answer http.HandlerFunc
	now    time.Time
	asked  atomic.Int32
}

func newWorld(t *testing.T, shape ...func(*egress.ClientConfig, *mtasts.Config)) *world {
	t.Helper()
	w := &world{dns: dnsxtest.New(t), now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.asked.Add(1)
		w.mu.Lock()
		answer := w.answer
		w.mu.Unlock()
		answer(rw, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the tests cause failed handshakes
	server.StartTLS()
	t.Cleanup(server.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	resolver, err := dnsx.New(dnsx.Config{Server: w.dns.Addr(), Timeout: 20 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(at.Port())
	if err != nil {
		t.Fatal(err)
	}
	client := egress.ClientConfig{Guard: egress.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}),
		RootCAs: trusted, Lookup: resolver.LookupIP}
	cfg := mtasts.Config{Resolver: resolver.WithoutCache(), Port: port, Now: w.clock}
	for _, f := range shape {
		f(&client, &cfg)
	}
	cfg.Client = egress.NewClient(client)
	if w.Finder, err = mtasts.New(cfg); err != nil {
		t.Fatal(err)
	}
	w.dns.Add(t, "mta-sts.example.com. 300 IN CNAME policies.example.com.", "policies.example.com. 300 IN A 127.0.0.1")
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// announce publishes a record id.
func (w *world) announce(t *testing.T, id string) {
	t.Helper()
	w.dns.Set(t, "_mta-sts."+domain, fmt.Sprintf(`_mta-sts.%s. 300 IN TXT "v=STSv1; id=%s;"`, domain, id))
}

func (w *world) serve(answer http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

func servePolicy(lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprint(w, "version: STSv1\r\n"+strings.Join(lines, "\r\n")+"\r\n")
	}
}

func respondUnavailable(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusServiceUnavailable)
}

var enforce = servePolicy("mode: enforce", "mx: mx1.example.com", "mx: *.mail.example.com", "max_age: 604800")

// find checks the policy (enforce, testing or none) and the problem.
func (w *world) find(t *testing.T, mode string, problem mtasts.FailureReason) *mtasts.Policy {
	t.Helper()
	p, err := w.Policy(t.Context(), domain)
	var failure *mtasts.FetchFailure
	got, trouble := "none", mtasts.FailureReason("")
	if errors.As(err, &failure) {
		trouble = failure.Problem
	} else if err != nil {
		t.Errorf("error %v", err)
	}
	if p != nil {
		got = "testing"
		if p.Enforce {
			got = "enforce"
		}
	}
	if got != mode || trouble != problem {
		t.Errorf("got %s and problem %q (%v), want %s and %q", got, trouble, err, mode, problem)
	}
	return p
}

func (w *world) expectFetches(t *testing.T, times int32) {
	t.Helper()
	if n := w.asked.Load(); n != times {
		t.Errorf("fetched %d times, want %d", n, times)
	}
}

func TestPolicyIsFoundAndCached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.announce(t, "20261121")
	w.serve(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/mta-sts.txt" || !strings.HasPrefix(r.Host, "mta-sts.example.com:") ||
			r.Method != http.MethodGet {
			t.Errorf("%s %s of %s", r.Method, r.URL.Path, r.Host)
		}
		enforce(rw, r)
	})
	for range 3 {
		p := w.find(t, "enforce", "")
		for host, want := range map[string]bool{"mx1.example.com": true, "MX1.Example.COM.": true,
			"a.mail.example.com": true,
			"mail.example.com":   false, "a.b.mail.example.com": false, "mx2.example.com": false, "": false} {
			if p.Allows(host) != want {
				t.Errorf("Allows(%q) = %v", host, !want)
			}
		}
	}
	w.expectFetches(t, 1)
}

func TestNoPolicyIsFetchedWithoutARecord(t *testing.T) {
	t.Parallel()
	for name, records := range map[string][]string{
		"none":    nil,
		"other":   {`_mta-sts.example.com. 300 IN TXT "hello"`},
		"two":     {`_mta-sts.example.com. 300 IN TXT "v=STSv1; id=1;"`, `_mta-sts.example.com. 300 IN TXT "v=STSv1; id=2;"`},
		"no id":   {`_mta-sts.example.com. 300 IN TXT "v=STSv1;"`},
		"half":    {`_mta-sts.example.com. 300 IN TXT "v=STSv1; id=1;"`, `_mta-sts.example.com. 300 IN TXT "v=STSv1; id=;"`},
		"broken":  {`_mta-sts.example.com. 300 IN TXT "v=STSv1; id=a-b;"`},
		"version": {`_mta-sts.example.com. 300 IN TXT "v=STSv2; id=1;"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.serve(enforce)
			w.dns.Add(t, records...)
			w.find(t, "none", "")
			w.expectFetches(t, 0)
		})
	}
}

func TestRecordIsFoundAmongOthersAndThroughCNAME(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve(enforce)
	w.dns.Add(t, `_mta-sts.example.com. 300 IN CNAME sts.elsewhere.test.`, `sts.elsewhere.test. 300 IN TXT "verify=1"`,
		`sts.elsewhere.test. 300 IN TXT "v=STSv1; " "id=7"`)
	w.find(t, "enforce", "")
}

func TestModesTestingAndNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.announce(t, "1")
	w.serve(servePolicy("mode: testing", "mx: mx1.example.com", "max_age: 86400"))
	w.find(t, "testing", "")
	w.announce(t, "2")
	w.serve(servePolicy("mode: none", "max_age: 86400"))
	w.find(t, "none", "")
	w.find(t, "none", "")
	w.expectFetches(t, 2)
}

func TestInvalidPoliciesAreRejected(t *testing.T) {
	t.Parallel()
	text := func(kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, body)
		}
	}
	good := "version: STSv1\nmode: enforce\nmx: mx1.example.com\nmax_age: 86400\n"
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		problem mtasts.FailureReason
	}{
		"404":           {http.NotFound, mtasts.FetchError},
		"503":           {respondUnavailable, mtasts.FetchError},
		"redirect":      {http.RedirectHandler("/elsewhere", http.StatusFound).ServeHTTP, mtasts.FetchError},
		"html":          {text("text/html", good), mtasts.PolicyInvalid},
		"no type":       {text("", good), mtasts.PolicyInvalid},
		"empty":         {text("text/plain", ""), mtasts.PolicyInvalid},
		"garbage":       {text("text/plain", "\x00\xff"), mtasts.PolicyInvalid},
		"no mx":         {text("text/plain", "version: STSv1\nmode: enforce\nmax_age: 86400\n"), mtasts.PolicyInvalid},
		"unknown mode":  {text("text/plain", strings.Replace(good, "enforce", "perhaps", 1)), mtasts.PolicyInvalid},
		"other version": {text("text/plain", strings.Replace(good, "STSv1", "STSv2", 1)), mtasts.PolicyInvalid},
		"too large":     {text("text/plain", good+strings.Repeat("x: y\n", 14<<10)), mtasts.PolicyInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.announce(t, "1")
			w.serve(c.answer)
			w.find(t, "none", c.problem)
			w.find(t, "none", c.problem)
			w.expectFetches(t, 1) // not repeated immediately
		})
	}
}

func TestPolicyServerCertificateMustMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *egress.ClientConfig, _ *mtasts.Config) { c.RootCAs = x509.NewCertPool() })
	w.announce(t, "1")
	w.serve(enforce)
	w.find(t, "none", mtasts.WebPKIInvalid)
	w.expectFetches(t, 0)
}

func TestPolicyServerOnAPrivateAddressIsRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *egress.ClientConfig, _ *mtasts.Config) { c.Guard = egress.NewGuard(nil) })
	w.announce(t, "1")
	w.serve(enforce)
	w.find(t, "none", mtasts.FetchError)
	w.expectFetches(t, 0)
	if _, err := w.Policy(t.Context(), domain); !errors.Is(err, egress.ErrRefused) {
		t.Errorf("error %v", err)
	}
}

func TestPolicyHostWithoutAddressFailsTheFetch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.announce(t, "1")
	w.dns.Remove("policies.example.com")
	w.find(t, "none", mtasts.FetchError)
}

func TestSilentPolicyServerTimesOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *egress.ClientConfig, c *mtasts.Config) { c.FetchTimeout = 100 * time.Millisecond })
	w.announce(t, "1")
	w.serve(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	w.find(t, "none", mtasts.FetchError)
}

// A delivery that is canceled while it waits says nothing about the domain.
func TestCanceledFetchIsNotCached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.announce(t, "1")
	ctx, cancel := context.WithCancel(t.Context())
	w.serve(func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	if p, err := w.Policy(ctx, domain); p != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled fetch returned %v, %v, want no policy and context.Canceled", p, err)
	}
	w.serve(enforce)
	w.find(t, "enforce", "")
}
