package smtpclient_test

import (
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

const tlsaName = "_25._tcp.mx1.example.test."

// tlsa is a TLSA record that pins the public key of a certificate (selector 1) by
// its SHA-256 (matching type 1).
func tlsa(usage int, c *x509.Certificate) string {
	return fmt.Sprintf("%s 300 IN TLSA %d 1 1 %x", tlsaName, usage, sha256.Sum256(c.RawSubjectPublicKeyInfo))
}

// newSignedHost starts a mail host in a zone whose answers are authenticated. Its certificate is not from a public
// authority.
func newSignedHost(t *testing.T, server smtptest.TLS, records ...string) (*smtptest.Server, world, *recorder) {
	t.Helper()
	reports := &recorder{}
	s, w := newOneHost(t, smtptest.Config{TLS: server}, func(c *smtpclient.Config) {
		c.RootCAs, c.Reports = x509.NewCertPool(), reports
	})
	w.dns.SetAuthentic(true)
	w.dns.Add(t, records...)
	return s, w, reports
}

func newReport(policy smtpclient.TLSPolicy, result string) smtpclient.TLSReport {
	return smtpclient.TLSReport{Domain: "example.test", Host: "mx1.example.test", Policy: policy, Result: result}
}

func TestDANEDeliversToThePublishedKey(t *testing.T) {
	t.Parallel()
	for name, usage := range map[string]int{"of its own (DANE-EE)": 3, "of its authority (DANE-TA)": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w, reports := newSignedHost(t, smtptest.StartTLS)
			leaf, authority := s.Certificates()
			w.dns.Add(t, tlsa(usage, map[int]*x509.Certificate{3: leaf, 2: authority}[usage]))
			for range 2 {
				got := w.send(t)
				expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
				expectPolicy(t, got, smtpclient.PolicyDANE, "mx1.example.test")
			}
			if n := s.Stats().Connections; n != 1 {
				t.Errorf("%d connections", n)
			}
			reports.expect(t, newReport(smtpclient.PolicyDANE, ""))
		})
	}
}

func TestDANEChecksTheNameForAPublishedAuthority(t *testing.T) {
	t.Parallel()
	s, w, _ := newSignedHost(t, smtptest.WrongName) // RFC 7672, 3.1.2
	_, authority := s.Certificates()
	w.dns.Add(t, tlsa(2, authority))
	expect(t, w.send(t), smtpclient.Temporary, "", smtpclient.PhaseStartTLS)
}

func TestDANEIgnoresTheNameForThePublishedKey(t *testing.T) {
	t.Parallel()
	s, w, _ := newSignedHost(t, smtptest.WrongName) // RFC 7672, 3.1.1
	leaf, _ := s.Certificates()
	w.dns.Add(t, tlsa(3, leaf))
	expect(t, w.send(t), smtpclient.Delivered, "", smtpclient.PhaseDot)
}

func TestDANERejectsOtherKeys(t *testing.T) {
	t.Parallel()
	other := fmt.Sprintf("%s 300 IN TLSA 3 1 1 %x", tlsaName, sha256.Sum256([]byte("another key")))
	for name, c := range map[string]struct {
		tls    smtptest.TLS
		result string
	}{
		"another key": {smtptest.StartTLS, "validation-failure"},
		"no STARTTLS": {smtptest.NoTLS, "starttls-not-supported"},
		"broken":      {smtptest.BrokenTLS, "validation-failure"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w, reports := newSignedHost(t, c.tls, other)
			got := w.send(t)
			expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseStartTLS)
			expectPolicy(t, got, smtpclient.PolicyDANE, "mx1.example.test")
			if len(s.Messages()) != 0 || strings.Contains(s.Transcript(), "MAIL") {
				t.Error("the message was offered")
			}
			reports.expect(t, newReport(smtpclient.PolicyDANE, c.result))
			expect(t, w.Deliver(t.Context(), enforced, []byte(message), nil), smtpclient.Failed,
				smtpclient.ReasonTLSRequired, smtpclient.PhaseStartTLS)
		})
	}
}

// A matching record satisfies an envelope that enforces TLS: it authenticates the certificate, although no
// public authority issued it.
func TestDANESatisfiesEnforcedTLS(t *testing.T) {
	t.Parallel()
	s, w, _ := newSignedHost(t, smtptest.StartTLS)
	expect(t, w.Deliver(t.Context(), enforced, []byte(message), nil), smtpclient.Failed, smtpclient.ReasonTLSRequired,
		smtpclient.PhaseStartTLS)
	leaf, _ := s.Certificates()
	w.dns.Add(t, strings.Replace(tlsa(3, leaf), "mx1.", "mx2.", 1), "signed.test. 300 IN MX 10 mx2.example.test.",
		"mx2.example.test. 300 IN A "+s.Host())
	env := enforced
	env.To = "bob@signed.test"
	got := w.Deliver(t.Context(), env, []byte(message), nil)
	expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
	expectPolicy(t, got, smtpclient.PolicyDANE, "mx2.example.test")
}

// Records from unauthenticated answers could be an attacker's.
func TestTLSARecordsWithoutDNSSECAreIgnored(t *testing.T) {
	t.Parallel()
	other := fmt.Sprintf("%s 300 IN TLSA 3 1 1 %x", tlsaName, sha256.Sum256([]byte("another key")))
	_, w, reports := newSignedHost(t, smtptest.StartTLS, other)
	w.dns.SetAuthentic(false)
	got := w.send(t)
	expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
	expectPolicy(t, got, smtpclient.PolicyOpportunistic, "mx1.example.test")
	reports.expect(t, newReport(smtpclient.PolicyOpportunistic, ""))
	if n := w.dns.Count(tlsaName, ""); n != 0 {
		t.Errorf("TLSA records were looked up %d times in an unsigned zone", n)
	}
}

func TestASignedHostWithoutTLSARecordsIsOpportunistic(t *testing.T) {
	t.Parallel()
	_, w, _ := newSignedHost(t, smtptest.NoTLS)
	got := w.send(t)
	expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
	expectPolicy(t, got, smtpclient.PolicyOpportunistic, "mx1.example.test")
}

// A failed lookup does not prove that there are no records.
func TestFailedTLSALookupSkipsTheHost(t *testing.T) {
	t.Parallel()
	s, w, reports := newSignedHost(t, smtptest.StartTLS)
	w.dns.Fault(tlsaName, dnsxtest.ServFail)
	got := w.send(t)
	expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseDNS)
	expectPolicy(t, got, smtpclient.PolicyDANE, "mx1.example.test")
	if !errors.Is(got.Err, dnsx.ErrTemporary) || s.Stats().Connections != 0 {
		t.Errorf("error %v, %d connections", got.Err, s.Stats().Connections)
	}
	reports.expect(t, newReport(smtpclient.PolicyDANE, "tlsa-invalid"))
}

// Usage 1 (PKIX-EE) is not usable with SMTP: TLS is required, with any certificate (RFC 7672, 2.2).
func TestUnusableTLSARecordsRequireOnlyTLS(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tls  smtptest.TLS
		kind smtpclient.OutcomeKind
	}{"offered": {smtptest.WrongName, smtpclient.Delivered}, "not offered": {smtptest.NoTLS, smtpclient.Temporary}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, w, _ := newSignedHost(t, c.tls, fmt.Sprintf("%s 300 IN TLSA 1 1 1 %x", tlsaName, sha256.Sum256(nil)))
			if got := w.send(t); got.Kind != c.kind || got.TLSPolicy != smtpclient.PolicyDANE {
				t.Errorf("got %+v", got)
			}
			// A stricter requirement still applies.
			expect(t, w.Deliver(t.Context(), enforced, []byte(message), nil), smtpclient.Failed,
				smtpclient.ReasonTLSRequired, smtpclient.PhaseStartTLS)
		})
	}
}

// A connection that was opened before the records were published is not reused.
func TestIdleConnectionIsNotReusedAfterNewTLSARecords(t *testing.T) {
	t.Parallel()
	s, w := newOneHost(t, smtptest.Config{TLS: smtptest.StartTLS},
		func(c *smtpclient.Config) { c.Resolver = c.Resolver.WithoutCache() })
	w.dns.SetAuthentic(true)
	expectPolicy(t, w.send(t), smtpclient.PolicyOpportunistic, "mx1.example.test")
	leaf, _ := s.Certificates()
	w.dns.Add(t, tlsa(3, leaf))
	for range 2 {
		expectPolicy(t, w.send(t), smtpclient.PolicyDANE, "mx1.example.test")
	}
	if n := s.Stats().Connections; n != 2 {
		t.Errorf("%d connections", n)
	}
}
