package smtpclient_test

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// RFC 8461, 2: MTA-STS must not override DANE. A host whose TLSA records match is accepted even without a
// public authority and outside the policy; a host whose records do not match is rejected even with both.
func TestDANETakesPrecedenceOverSTS(t *testing.T) {
	t.Parallel()
	record := func(s *smtptest.Server) string {
		leaf, _ := s.Certificates()
		return strings.Replace(tlsa(3, leaf), "mx1.example.test.", "mx1.example.com.", 1)
	}
	t.Run("records match", func(t *testing.T) {
		t.Parallel()
		r := newReceiver(t, policyLines("enforce", "mx2.example.com"), smtptest.WrongName, smtptest.StartTLS)
		r.dns.SetAuthentic(true)
		r.dns.Add(t, record(r.first))
		got := r.send(t, "")
		expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
		expectPolicy(t, got, smtpclient.PolicyDANE, "mx1.example.com")
	})
	t.Run("records of another key", func(t *testing.T) {
		t.Parallel()
		r := newReceiver(t, policyLines("enforce", "mx1.example.com"), smtptest.StartTLS, smtptest.StartTLS)
		r.dns.SetAuthentic(true)
		r.dns.Add(t, record(r.second)) // the first host has a trusted certificate, but not this key
		got := r.send(t, "")
		expect(t, got, smtpclient.Temporary, "", smtpclient.PhaseDNS) // the outcome is that of the second host
		expectPolicy(t, got, smtpclient.PolicySTS, "mx2.example.com")
		if n := len(r.first.Messages()) + len(r.second.Messages()); n != 0 {
			t.Errorf("%d messages arrived", n)
		}
	})
	t.Run("the next host has no records", func(t *testing.T) {
		t.Parallel()
		r := newReceiver(t, policyLines("enforce", "*.example.com"), smtptest.StartTLS, smtptest.StartTLS)
		r.dns.SetAuthentic(true)
		r.dns.Add(t, record(r.second))
		got := r.send(t, "")
		expect(t, got, smtpclient.Delivered, "", smtpclient.PhaseDot)
		expectPolicy(t, got, smtpclient.PolicySTS, "mx2.example.com")
	})
}
