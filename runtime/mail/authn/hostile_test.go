package authn_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mjl-/adns"
	moxdns "github.com/mjl-/mox/dns"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/mail/authn"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/dnsx"
)

func TestFiveSignaturesAreChecked(t *testing.T) {
	t.Parallel()
	s := newZone(t)
	var by []string
	for i := range 8 {
		by = append(by, fmt.Sprintf("ed d%d.example.net", i))
		publish(s, fmt.Sprintf("ed._domainkey.d%d.example.net.", i), dkim.PublicRecord(edKey))
	}
	message := signMessage(t, "ann@example.com", by...)
	got := verifier(t, s, 0).Verify(t.Context(), own, strings.NewReader(message), int64(len(message)))
	if len(got.DKIMDomains) != 5 || got.DKIM != "pass" {
		t.Errorf("mail with 8 signatures got %+v, want 5 checked and DKIM passed", got)
	}
	asked := 0
	for i := range 8 {
		asked += s.Count(fmt.Sprintf("ed._domainkey.d%d.example.net.", i), "TXT")
	}
	if asked != 5 {
		t.Errorf("looked up %d keys", asked)
	}
}

// TestHeadersThatCostTooMuch checks that a header over the bounds results in permerror for its signatures, and
// does not change any other result.
func TestHeadersThatCostTooMuch(t *testing.T) {
	t.Parallel()
	v := verifier(t, newZone(t), 0)
	for name, field := range map[string]string{
		"fields": strings.Repeat("X: y\r\n", 20000),
		"octets": "X: " + strings.Repeat("y", 300<<10) + "\r\n",
		"folds":  "X: y\r\n" + strings.Repeat(" y\r\n", 20000),
	} {
		message := signMessage(t, "ann@example.com", "ed example.com")
		message = strings.Replace(message, "To: ", field+"To: ", 1)
		want := resultWith(func(a *shape.Authentication) { a.DKIM, a.DKIMDomains = "permerror", nil })
		if diff := cmp.Diff(want, v.Verify(t.Context(), own, strings.NewReader(message),
			int64(len(message)))); diff != "" {
			t.Errorf("%s: the result differs from DKIM permerror and nothing else: %s", name, diff)
		}
	}
	message := signMessage(t, "ann@example.com", "ed example.com")
	message = strings.Repeat("X: y\r\n", 1900) + message
	if got := v.Verify(t.Context(), own, strings.NewReader(message), int64(len(message))); got.DKIM != "pass" {
		t.Errorf("result within the bounds: %+v", got)
	}
}

func TestTenReverseNamesAreLookedUp(t *testing.T) {
	t.Parallel()
	s := newZone(t)
	for i := range 50 {
		s.Add(t, fmt.Sprintf("9.113.0.203.in-addr.arpa. 300 IN PTR n%d.example.net.", i),
			fmt.Sprintf("n%d.example.net. 300 IN A 203.0.113.1", i))
	}
	got := verifier(t, s, 0).Verify(t.Context(), client("203.0.113.9", "x", ""), strings.NewReader(head),
		int64(len(head)))
	asked := 0
	for i := range 50 {
		asked += s.Count(fmt.Sprintf("n%d.example.net.", i), "A")
	}
	if got.IPRev != "fail" || asked != 10 {
		t.Errorf("got %+v after %d lookups", got, asked)
	}
}

func TestEndlessSPFIsAnError(t *testing.T) {
	t.Parallel()
	s := newZone(t)
	s.Set(t, "example.com.", `example.com. 300 IN TXT "v=spf1 include:example.com -all"`)
	got := verifier(t, s, 0).Verify(t.Context(), own, strings.NewReader(head), int64(len(head)))
	if got.SPF != "permerror" {
		t.Errorf("an SPF record that includes itself results in %+v, want SPF permerror", got)
	}
}

// TestKeysThatAreTooLargeAreNotTried: the cost of verifying grows with the square of a key's size, which the
// sender chooses.
func TestKeysThatAreTooLargeAreNotTried(t *testing.T) {
	t.Parallel()
	s := newZone(t)
	s.Remove("ed._domainkey.example.com.")
	publish(s, "ed._domainkey.example.com.", dkim.PublicRecord(edKey)+"; n="+strings.Repeat("x", 5000))
	message := signMessage(t, "ann@example.com", "ed example.com")
	got := verifier(t, s, 0).Verify(t.Context(), own, strings.NewReader(message), int64(len(message)))
	if got.DKIM != "permerror" {
		t.Errorf("a signature with a key that is too large results in %+v, want DKIM permerror", got)
	}
}

// panicking is a reader that panics like a faulty library.
type panicking struct{}

func (panicking) ReadAt([]byte, int64) (int, error) { panic("over a message") }

func TestAPanicIsTemporary(t *testing.T) {
	t.Parallel()
	want := resultWith(func(a *shape.Authentication) {
		a.DKIM, a.DKIMDomains, a.DMARC, a.DMARCPolicy = "temperror", nil, "temperror", ""
	})
	if diff := cmp.Diff(want, verifier(t, newZone(t), 0).Verify(t.Context(), own, panicking{}, 1000)); diff != "" {
		t.Error(diff)
	}
}

// panickingDNS panics when it looks up the key of a signature.
type panickingDNS struct{ moxdns.Resolver }

func (p panickingDNS) LookupTXT(ctx context.Context, name string) ([]string, adns.Result, error) {
	if strings.Contains(name, "_domainkey") {
		panic("over a key")
	}
	return p.Resolver.LookupTXT(ctx, name)
}

func TestPanicInASignatureIsNotAFailure(t *testing.T) {
	t.Parallel()
	r, err := dnsx.New(dnsx.Config{Server: newZone(t).Addr()})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	v := authn.New(authn.Config{Resolver: panickingDNS{r.SMTP()}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	message := signMessage(t, "ann@example.com", "ed example.com")
	want := resultWith(func(a *shape.Authentication) {
		clearSPF(a)
		a.DKIM, a.DKIMDomains, a.DMARC = "temperror", nil, "temperror"
	})
	if diff := cmp.Diff(want, v.Verify(t.Context(), client("203.0.113.9", "x", "ann@example.com"),
		strings.NewReader(message), int64(len(message)))); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(log.String(), "over a key") {
		t.Errorf("the log is %q", log.String())
	}
}

func TestTimeoutIsTemporary(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	message := signMessage(t, "ann@example.com", "ed example.com")
	want := shape.Authentication{SPF: "temperror", DKIM: "temperror", DMARC: "temperror", IPRev: "temperror",
		SPFDomain: "example.com"}
	if diff := cmp.Diff(want, verifier(t, newZone(t), 0).
		Verify(ctx, own, strings.NewReader(message), int64(len(message)))); diff != "" {
		t.Error(diff)
	}
}

// impatient cancels when its middle is read, which only hashing the body does.
type impatient struct {
	*strings.Reader
	cancel context.CancelFunc
}

func (i impatient) ReadAt(b []byte, off int64) (int, error) {
	if off > i.Size()/2 {
		i.cancel()
	}
	return i.Reader.ReadAt(b, off)
}

func TestLongBodyIsAbandonedAtTheTimeout(t *testing.T) {
	t.Parallel()
	message, err := dkim.Sign([]byte("From: ann@example.com\r\n\r\n"+strings.Repeat("Hello again\r\n", 100_000)),
		dkim.Signer{Domain: "example.com", Selector: "ed", Key: edKey})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := verifier(t, newZone(t), 0).Verify(ctx, own, impatient{strings.NewReader(string(message)), cancel},
		int64(len(message)))
	if got.DKIM != "temperror" {
		t.Errorf("a body that takes too long to hash results in %+v, want DKIM temperror", got)
	}
}

func TestAClientWithoutAnAddress(t *testing.T) {
	t.Parallel()
	got := verifier(t, newZone(t), 2*time.Second).Verify(t.Context(), authn.Client{MailFrom: "ann@example.com"},
		strings.NewReader(head), int64(len(head)))
	if got.IPRev != "permerror" || got.SPF == "pass" {
		t.Errorf("a client without an address results in %+v, want iprev permerror and no pass of SPF", got)
	}
}

// A body with lines that are expensive to hash is verified within requested memory, which is released before
// the DNS lookup. Longer lines are not verified.
func TestLongLinesAreHashedWithinMemory(t *testing.T) {
	t.Parallel()
	s := newZone(t)
	r, err := dnsx.New(dnsx.Config{Server: s.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	held, most := int64(0), int64(0)
	resolver := asked{r.SMTP(), func() {
		if held != 0 {
			t.Errorf("%d bytes are held during a DNS lookup", held)
		}
	}}
	memory := func(_ context.Context, from netip.Addr, octets int64) (func(), error) {
		if from != own.IP {
			t.Errorf("memory was requested for %s", from)
		}
		held += octets
		most = max(most, held)
		return func() { held -= octets }, nil
	}
	v := authn.New(authn.Config{Resolver: resolver, Memory: memory})
	for _, c := range []struct {
		name, body string
		dkim       string
		most       int64
	}{
		{"lines as usual", strings.Repeat(strings.Repeat("x", 76)+"\r\n", 4000), "pass", 0},
		{"a line of 200 KB", strings.Repeat("x", 200<<10) + "\r\n", "pass", 5 * (200<<10 + 4)},
		{"200 KB of empty lines", strings.Repeat("\r\n", 100<<10) + "x\r\n", "pass", 5 * (200<<10 + 5)},
		{"a line of 2 MB", strings.Repeat("x", 2<<20) + "\r\n", "permerror", 0},
	} {
		held, most = 0, 0
		message, err := dkim.Sign([]byte("From: ann@example.com\r\n"+strings.Replace(head, "Hello\r\n", c.body, 1)),
			dkim.Signer{Domain: "example.com", Selector: "ed", Key: edKey},
			dkim.Signer{Domain: "news.example.com", Selector: "ed", Key: edKey})
		if err != nil {
			t.Fatal(err)
		}
		got := v.Verify(t.Context(), own, bytes.NewReader(message), int64(len(message)))
		if got.DKIM != c.dkim || held != 0 || most != c.most {
			t.Errorf("%s: dkim=%s, at most %d bytes were held and %d remain; want %s and %d", c.name, got.DKIM, most,
				held, c.dkim, c.most)
		}
	}
}

// asked returns the number of key lookups.
type asked struct {
	moxdns.Resolver

	before func()
}

func (a asked) LookupTXT(ctx context.Context, name string) ([]string, adns.Result, error) {
	if strings.Contains(name, "_domainkey") {
		a.before()
	}
	return a.Resolver.LookupTXT(ctx, name)
}
