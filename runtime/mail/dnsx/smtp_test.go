package dnsx_test

import (
	"context"
	"log/slog"
	"testing"

	moxdns "github.com/mjl-/mox/dns"
	moxsmtpclient "github.com/mjl-/mox/smtpclient"

	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

func gather(ctx context.Context, r moxdns.Resolver,
	domain string) (haveMX bool, hosts []moxsmtpclient.HostPref, permanent bool, err error) {
	haveMX, _, _, _, hosts, permanent, err = moxsmtpclient.GatherDestinations(ctx, slog.New(slog.DiscardHandler), r,
		moxdns.IPDomain{Domain: moxdns.Domain{ASCII: domain}})
	return haveMX, hosts, permanent, err
}

func TestMoxGathersDestinationsThroughTheAdapter(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t, "example.test. 300 IN MX 20 b.test.", "example.test. 300 IN MX 10 a.test.",
		"alias.test. 300 IN CNAME example.test.", "null.test. 300 IN MX 0 .", "implicit.test. 300 IN A 192.0.2.9",
		"a.test. 300 IN CNAME real.test.", "real.test. 300 IN A 192.0.2.1", "real.test. 300 IN AAAA 2001:db8::1")
	s.Fault("broken.test", dnsxtest.ServFail)
	r := resolver(t, s).SMTP()
	for _, domain := range []string{"example.test", "alias.test"} {
		haveMX, hosts, _, err := gather(t.Context(), r, domain)
		if err != nil || !haveMX || len(hosts) != 2 || hosts[0].Host.Domain.ASCII != "a.test" || hosts[1].Pref != 20 {
			t.Errorf("the destinations of %s are %v, %v, %v, want MX hosts, a.test first and then b.test at 20", domain,
				haveMX, hosts, err)
		}
	}
	if _, _, permanent, err := gather(t.Context(), r, "null.test"); err == nil || !permanent {
		t.Errorf("null MX: permanent %v, %v", permanent, err)
	}
	if haveMX, hosts, _, err := gather(t.Context(), r, "implicit.test"); err != nil || haveMX || len(hosts) != 1 {
		t.Errorf("implicit MX: %v, %v, %v", haveMX, hosts, err)
	}
	if _, _, permanent, err := gather(t.Context(), r, "broken.test"); err == nil || permanent ||
		moxdns.IsNotFound(err) {
		t.Errorf("broken: permanent %v, %v", permanent, err)
	}
	_, _, expanded, ips, dual, err := moxsmtpclient.GatherIPs(t.Context(), slog.New(slog.DiscardHandler), r, "ip",
		moxdns.IPDomain{Domain: moxdns.Domain{ASCII: "a.test"}}, nil)
	if err != nil || expanded.ASCII != "real.test" || len(ips) != 2 || !dual || ips[0].String() != "192.0.2.1" {
		t.Errorf("addresses: %v %v %v %v", expanded, ips, dual, err)
	}
}

func TestADCountsFromThisMachine(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t, "signed.test. 0 IN MX 10 mx.signed.test.", "_25._tcp.mx.signed.test. 0 IN TLSA 3 1 1 "+
		"133b919c9d65d8b1488157315327334ead8d83372db57465ecabf53ee5748aee")
	r := resolver(t, s).SMTP()
	for _, signed := range []bool{true, false} {
		s.SetAuthentic(signed)
		_, res, err := r.LookupMX(t.Context(), "signed.test.")
		if err != nil || res.Authentic != signed {
			t.Errorf("authentic = %v, want %v (%v)", res.Authentic, signed, err)
		}
		records, res, err := r.LookupTLSA(t.Context(), 25, "tcp", "mx.signed.test.")
		if err != nil || res.Authentic != signed || len(records) != 1 || len(records[0].CertAssoc) != 32 {
			t.Errorf("TLSA: %v %v %v", records, res, err)
		}
	}
}

func TestTheOtherLookupsOfTheAdapter(t *testing.T) {
	t.Parallel()
	s := dnsxtest.New(t, "host.test. 300 IN A 192.0.2.1", "zone.test. 300 IN NS ns.zone.test.",
		`t.test. 300 IN TXT "x"`,
		"1.2.0.192.in-addr.arpa. 300 IN PTR host.test.", "_smtp._tcp.zone.test. 300 IN SRV 1 2 25 host.test.")
	r := resolver(t, s).SMTP()
	if got, _, err := r.LookupHost(t.Context(), "host.test."); err != nil || len(got) != 1 || got[0] != "192.0.2.1" {
		t.Errorf("LookupHost: %v, %v", got, err)
	}
	if got, _, err := r.LookupIPAddr(t.Context(), "host.test."); err != nil || len(got) != 1 {
		t.Errorf("LookupIPAddr: %v, %v", got, err)
	}
	if got, _, err := r.LookupAddr(t.Context(), "192.0.2.1"); err != nil || len(got) != 1 || got[0] != "host.test." {
		t.Errorf("LookupAddr: %v, %v", got, err)
	}
	if _, got, _, err := r.LookupSRV(t.Context(), "smtp", "tcp", "zone.test."); err != nil || len(got) != 1 ||
		got[0].Port != 25 {
		t.Errorf("LookupSRV: %v, %v", got, err)
	}
	if got, _, err := r.LookupNS(t.Context(), "zone.test."); err != nil || len(got) != 1 {
		t.Errorf("LookupNS: %v, %v", got, err)
	}
	if got, _, err := r.LookupTXT(t.Context(), "t.test."); err != nil || len(got) != 1 {
		t.Errorf("LookupTXT: %v, %v", got, err)
	}
	if _, _, err := r.LookupAddr(t.Context(), "nonsense"); !moxdns.IsNotFound(err) {
		t.Errorf("LookupAddr of nonsense: %v", err)
	}
}
