package domains

import (
	"context"
	"errors"
	"testing"

	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/runtime/base/fault"
)

// obtained collects the hosts for which certificates are obtained.
type obtained struct{ hosts []string }

func (o *obtained) Obtain(hosts ...string) { o.hosts = append(o.hosts, hosts...) }

func TestMTASTSFromSettingToPolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const target = "mail.postrider.example"
	certificates, broken := &obtained{}, errors.New("its certificate has expired")
	w.checks.hosts.Policies, w.checks.certificates = target, certificates
	w.checks.checker.MailHost = func(context.Context, string) error { return broken }
	allowed := AllowPolicyHosts(w.db, target)
	d := w.verified(t, w.ada, "example.com")
	testing, enforce, none, off, strict, on, no := "testing", "enforce", "none", "off", "strict", true, false
	refuse := func(c DomainChange, field string) {
		t.Helper()
		_, err := w.Update(t.Context(), w.ada, d.ID, c)
		wantFault(t, err, fault.Invalid, fault.CodeValidation)
		if fault.Classify(err).Fields[field] == "" {
			t.Errorf("got %v, want an error about %s", err, field)
		}
	}
	set := func(c DomainChange) {
		t.Helper()
		changed, err := w.Update(t.Context(), w.ada, d.ID, c)
		if err != nil {
			t.Fatal(err)
		}
		d = changed
	}
	refuse(DomainChange{MTASTS: &strict}, "mta_sts")
	refuse(DomainChange{MTASTS: &enforce}, "mta_sts") // it does not receive mail
	set(DomainChange{InboundEnabled: &on, MTASTS: &testing})
	host, record := w.byPurpose(d)[dnscheck.MTASTSHost], w.byPurpose(d)[dnscheck.MTASTS]
	if host.Type != "CNAME" || host.Name != "mta-sts.example.com" || host.Value != target || host.Required ||
		record.Type != "TXT" || record.Name != "_mta-sts.example.com" || record.Required {
		t.Errorf("the records are %+v and %+v", host, record)
	}
	if allowed(t.Context(), "mta-sts.example.com") == nil {
		t.Error("a host without its CNAME record may have a certificate")
	}
	w.zone.Set(t, host.Name, zoneLine(host))
	w.zone.Set(t, record.Name, zoneLine(record))
	w.zone.Add(t, "example.com. 300 IN MX 10 smtp.postrider.example.")
	d = w.verify(t, d)
	if w.byPurpose(d)[dnscheck.MTASTSHost].Status != dnscheck.Verified || w.byPurpose(d)[dnscheck.MTASTS].Status != dnscheck.Verified {
		t.Errorf("after publishing them, the records are %+v", w.byPurpose(d))
	}
	if len(certificates.hosts) != 1 || certificates.hosts[0] != "mta-sts.example.com" {
		t.Errorf("certificates were obtained for %v", certificates.hosts)
	}
	if err := allowed(t.Context(), "mta-sts.example.com"); err != nil {
		t.Errorf("the host may not have a certificate: %v", err)
	}
	for _, other := range []string{"example.com", "mta-sts.example.org", "mta-sts.", "mta-sts.mta-sts.example.com", "x.mta-sts.example.com"} {
		if allowed(t.Context(), other) == nil {
			t.Errorf("the host %q may have a certificate", other)
		}
	}
	const want = "version: STSv1\r\nmode: testing\r\nmx: smtp.postrider.example\r\nmax_age: 86400\r\n"
	if got, err := w.MTASTSPolicy(t.Context(), "example.com"); err != nil || got != want {
		t.Errorf("the policy is %q, %v", got, err)
	}
	_, err := w.MTASTSPolicy(t.Context(), "example.org")
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)

	refuse(DomainChange{MTASTS: &enforce}, "mta_sts") // its certificate has expired
	broken = nil
	set(DomainChange{MTASTS: &enforce})
	if after := w.byPurpose(d)[dnscheck.MTASTS]; after.Value == record.Value {
		t.Errorf("the id did not change with the policy: %s", after.Value)
	}
	if d = w.verify(t, d); w.byPurpose(d)[dnscheck.MTASTS].Status != dnscheck.Mismatch {
		t.Errorf("with the id of the earlier policy, the record is %+v", w.byPurpose(d)[dnscheck.MTASTS])
	}
	refuse(DomainChange{InboundEnabled: &no}, "inbound_enabled")
	set(DomainChange{MTASTS: &none})
	if got, err := w.MTASTSPolicy(t.Context(), "example.com"); err != nil || got == want {
		t.Errorf("the withdrawn policy is %q, %v", got, err)
	}
	set(DomainChange{MTASTS: &off, InboundEnabled: &no})
	_, err = w.MTASTSPolicy(t.Context(), "example.com")
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)
	if allowed(t.Context(), "mta-sts.example.com") == nil {
		t.Error("a host without a policy may have a certificate")
	}
	_, err = w.Update(t.Context(), w.eve, d.ID, DomainChange{MTASTS: &testing})
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)
}
