package tracking

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/modules/tracking/hosts"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
)

// fakeDomains is a fake of the domains module that has a single domain.
type fakeDomains struct{ domain *ent.Domain }

func (s fakeDomains) Get(context.Context, string, string) (*ent.Domain, error) { return s.domain, nil }

// fakeCertificates is a fake of the certificate keeper.
type fakeCertificates struct{ ready map[string]bool }

func (i fakeCertificates) Ready(_ context.Context, host string) bool { return i.ready[host] }
func (i fakeCertificates) Certificate(context.Context, string) hosts.Certificate {
	return hosts.Certificate{Status: hosts.CertificatePending}
}
func (i fakeCertificates) Obtain(names ...string) {
	for _, host := range names {
		i.ready[host] = true
	}
}

func TestLinksUseHostOnceCertificateIsReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const target = "mail.example.org"
	shop := fakeDomains{&ent.Domain{ID: id.New(id.Domain), AccountID: &w.ada, Name: "shop.example",
		Status: domain.StatusVerified}}
	zone := dnsxtest.New(t)
	resolver, err := dnsx.New(dnsx.Config{Server: zone.Addr(), Timeout: 5 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	process := func(c hosts.Certificates) *hosts.Service {
		s, err := hosts.New(hosts.Params{Config: hosts.Config{BaseURL: testBase, Target: target}, DB: w.db,
			Domains: shop, Resolver: resolver, Certificates: c, Logger: quietLogger()})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	i := fakeCertificates{map[string]bool{}}
	base := func(account, baseURL string, c hosts.Certificates) string {
		r, err := NewRewriter(RewriterParams{Config: Config{BaseURL: baseURL}, DB: w.db, Certificates: c,
			Box: pinnedKey(t), Logger: quietLogger()})
		if err != nil {
			t.Fatal(err)
		}
		html, _, err := r.Rewrite(t.Context(),
			TrackedEmail{AccountID: account, EmailID: testEmail, DomainID: shop.domain.ID,
				Clicks: true}, `<a href="https://e.com/">`, "")
		if err != nil {
			t.Fatal(err)
		}
		link, _, _ := strings.Cut(strings.TrimPrefix(html, `<a href="`), ClickPath)
		return link
	}
	check := func(stage, want string, c hosts.Certificates) {
		t.Helper()
		if got := base(w.ada, testBase, c); got != want {
			t.Errorf("%s: links use %s, want %s", stage, got, want)
		}
	}
	check("no host", testBase, i)
	s := process(nil)
	if _, err := s.Set(t.Context(), w.ada, shop.domain.ID, hosts.HostInput{Host: "links.shop.example"}); err != nil {
		t.Fatal(err)
	}
	check("pending", testBase, i)
	zone.Set(t, "links.shop.example", "links.shop.example. 60 IN CNAME "+target+".")
	if _, err := s.Verify(t.Context(), w.ada, shop.domain.ID); err != nil {
		t.Fatal(err)
	}
	check("no TLS", testBase, nil)
	check("no certificate yet", testBase, i)
	if h, err := process(i).Verify(t.Context(), w.ada, shop.domain.ID); err != nil ||
		h.Certificate.Status != hosts.CertificatePending {
		t.Errorf("the certificate of a verified host is %+v, %v, want pending", h.Certificate, err)
	}
	check("verified, with a certificate", "https://links.shop.example", i)
	if got := base(w.ada, "http://127.0.0.1:8080", nil); got != "http://links.shop.example:8080" {
		t.Errorf("in development, links use %s", got)
	}
	if got := base(w.eve, testBase, i); got != testBase {
		t.Errorf("links of another account use %s", got)
	}
	// An unavailable database does not delay messages.
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	check("the database is unavailable", testBase, i)
}
