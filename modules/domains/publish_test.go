package domains

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/domains/publish"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/web/egress"
)

func (w *world) publisher(t testing.TB) *publish.Service {
	t.Helper()
	resolver, err := dnsx.New(dnsx.Config{Server: w.zone.Addr(), Timeout: 5 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := publish.New(publish.Params{Domains: w.Service, Resolver: resolver, Guard: egress.NewGuard(nil)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProviderIsVisibleToOwnerOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publisher(t)
	d := w.add(t, w.ada, "mail.shop.example.com")
	w.zone.Add(t, "example.com. 60 IN SOA a. b. 1 2 3 4 5", "example.com. 60 IN NS ns1.digitalocean.com.")
	got, err := p.Provider(t.Context(), w.ada, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := publish.Provider{Name: "digitalocean", Supported: true, Zone: "example.com",
		NameServers: []string{"ns1.digitalocean.com"}, Credentials: []string{"api_token"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, err = p.Provider(t.Context(), w.eve, d.ID)
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)
	in := publish.ApplyInput{Provider: "digitalocean", Credentials: publish.ProviderCredentials{}}
	in.Credentials.Set("api_token", "abcdefgh")
	_, err = p.Apply(t.Context(), w.eve, d.ID, in)
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)
}

func TestApplyRequiresZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.add(t, w.ada, "unregistered.example")
	in := publish.ApplyInput{Provider: "gandi", Credentials: publish.ProviderCredentials{}}
	_, err := w.publisher(t).Apply(t.Context(), w.ada, d.ID, in)
	wantFault(t, err, fault.Invalid, fault.CodeValidation)
	in.Credentials.Set("bearer_token", "abcdefgh")
	_, err = w.publisher(t).Apply(t.Context(), w.ada, d.ID, in)
	wantFault(t, err, fault.Conflict, fault.CodeConflict)
}
