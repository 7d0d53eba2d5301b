package domains

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/dnsprovider"
	"github.com/postrider/postrider/runtime/egress"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/mail/dnsx"
)

func (w *world) publisher(t testing.TB) *Publisher {
	t.Helper()
	resolver, err := dnsx.New(dnsx.Config{Server: w.zone.Addr(), Timeout: 250 * time.Millisecond, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(resolver.Close)
	p, err := NewPublisher(PublisherParams{Domains: w.Service, Resolver: resolver, Guard: egress.NewGuard(nil)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProviderIsFoundForTheOwnerOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publisher(t)
	d := w.add(t, w.ada, "mail.shop.example.com")
	w.zone.Add(t, "example.com. 60 IN SOA a. b. 1 2 3 4 5", "example.com. 60 IN NS ns1.digitalocean.com.")
	got, err := p.Provider(t.Context(), w.ada, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := DNSProvider{Name: "digitalocean", Supported: true, Zone: "example.com", NameServers: []string{"ns1.digitalocean.com"}, Credentials: []string{"api_token"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, err = p.Provider(t.Context(), w.eve, d.ID)
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)
	in := ApplyInput{Provider: "digitalocean", Credentials: Credentials{}}
	in.Credentials.Set("api_token", "abcdefgh")
	_, err = p.Apply(t.Context(), w.eve, d.ID, in)
	wantFault(t, err, fault.NotFound, fault.CodeNotFound)
}

func TestApplyNeedsAZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.add(t, w.ada, "unregistered.example")
	in := ApplyInput{Provider: "gandi", Credentials: Credentials{}}
	_, err := w.publisher(t).Apply(t.Context(), w.ada, d.ID, in)
	wantFault(t, err, fault.Invalid, fault.CodeValidation)
	in.Credentials.Set("bearer_token", "abcdefgh")
	_, err = w.publisher(t).Apply(t.Context(), w.ada, d.ID, in)
	wantFault(t, err, fault.Conflict, fault.CodeConflict)
}

// Every record has a rule, and both keys of a rotation are wanted.
func TestEveryRecordIsWanted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.add(t, w.ada, "example.com")
	records := w.Records(d)
	wanted := w.expect(d).wanted(records)
	plan := dnsprovider.Compare("example.com", wanted, nil)
	shown := changes(records, plan.Applied)
	if len(wanted) != len(records) || len(shown) != len(records) {
		t.Fatalf("%d records, %d wanted, %d shown", len(records), len(wanted), len(shown))
	}
	for i, c := range shown {
		if c.Purpose != records[i].Purpose || c.Name != records[i].Name || !cmp.Equal(c.After, []string{c.Write}) {
			t.Errorf("the change shown for %s is %+v, want only the record itself afterwards", records[i].Purpose, c)
		}
	}
}

// The includes of a merged record may use up the look-ups; what does not answer
// is no objection.
func TestMergedSPFIsEvaluated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publisher(t)
	d := w.add(t, w.ada, "example.com")
	e := w.expect(d)
	for n := range 11 {
		w.zone.Add(t, fmt.Sprintf("i%d.example.net. 60 IN TXT \"v=spf1 include:i%d.example.net -all\"", n, n+1))
	}
	w.zone.Add(t, `flat.example.net. 60 IN TXT "v=spf1 ip4:192.0.2.1 -all"`)
	for include, want := range map[string]string{"i0.example.net": "more than 10 look-ups", "flat.example.net": ""} {
		there := dnsprovider.Record{Type: "TXT", Name: "example.com", Value: "v=spf1 include:" + include + " -all"}
		plan := dnsprovider.Compare("example.com", e.wanted(w.Records(d)), []dnsprovider.Record{there}).
			Refuse(func(i dnsprovider.Item) string { return p.doubtSPF(t.Context(), e, i) })
		var reason strings.Builder
		for _, c := range plan.Conflicts {
			reason.WriteString(c.Reason)
		}
		if (want == "") != (reason.String() == "") || !strings.Contains(reason.String(), want) {
			t.Errorf("including %s is refused with %q, want %q", include, reason.String(), want)
		}
	}
}
