package dnsprovider

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/web/egress"
)

func newService(t testing.TB, server string, allow ...netip.Prefix) *Service {
	t.Helper()
	resolver, err := dnsx.New(dnsx.Config{Server: server, Timeout: 20 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Params{Resolver: resolver.WithoutCache(), Guard: egress.NewGuard(allow)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var loopback = netip.MustParsePrefix("127.0.0.0/8")

func secrets(pairs ...string) map[string]secret.String {
	c := map[string]secret.String{}
	for i := 0; i < len(pairs); i += 2 {
		c[pairs[i]] = secret.New(pairs[i+1])
	}
	return c
}

func (p *primary) open(t testing.TB) *Zone {
	t.Helper()
	z, err := newService(t, p.addr, loopback).Open(t.Context(), "rfc2136",
		secrets("server", p.addr, "key_name", "Apply.Key", "key", key), "example.com")
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func allWanted() []Wanted {
	dkim := wantDKIM
	dkim.Value = "v=DKIM1; k=rsa; p=" + strings.Repeat("MIIBIjAN", 49) // 410 bytes, like RSA-2048
	return []Wanted{wantOwnership, dkim, wantPath, wantSPF, wantDMARC}
}

func joinPurposes(items []Item) string {
	var names []string
	for _, i := range items {
		names = append(names, i.Purpose)
	}
	return strings.Join(names, " ")
}

func makePlan(t testing.TB, z *Zone, wanted []Wanted) Plan {
	t.Helper()
	p, err := z.Plan(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestUpdatesAddEverythingOnce(t *testing.T) {
	t.Parallel()
	server := newPrimary(t, "example.com.", `example.com. 600 IN TXT "google-site-verification=1"`)
	z := server.open(t)
	plan := makePlan(t, z, allWanted())
	server.set(func() {
		if server.updates != 0 {
			t.Error("Plan changed the zone")
		}
	})
	done, err := z.Apply(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if got := joinPurposes(done.Applied); got != "ownership dkim return_path spf dmarc" || len(done.Conflicts) > 0 {
		t.Fatalf("got applied %s, conflicts %+v", got, done.Conflicts)
	}
	if diff := cmp.Diff([]string{`"google-site-verification=1"`, `"v=spf1 include:spf.postrider.test ~all"`},
		server.lines("example.com.", dns.TypeTXT)); diff != "" {
		t.Error(diff)
	}
	if dkim := server.lines("s1._domainkey.example.com.", dns.TypeTXT); len(dkim) != 1 ||
		strings.Count(dkim[0], `"`) != 4 {
		t.Errorf("the key was not split into two strings: %v", dkim)
	}
	again := makePlan(t, server.open(t), allWanted())
	if got := joinPurposes(again.Unchanged); got != "ownership dkim return_path spf dmarc" {
		t.Errorf("the second Apply returned unchanged %s; %+v", got, again)
	}
}

func TestUpdatesMergeSplitSPFRecord(t *testing.T) {
	t.Parallel()
	server := newPrimary(t, "example.com.", `example.com. 600 IN TXT "v=spf1 mx " "-all"`,
		`example.com. 600 IN TXT "other; \"quoted\" \\ \195\164"`)
	z := server.open(t)
	done, err := z.Apply(t.Context(), makePlan(t, z, []Wanted{wantSPF}))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`"other; \"quoted\" \\ \195\164"`, `"v=spf1 mx include:spf.postrider.test -all"`}
	if diff := cmp.Diff(want, server.lines("example.com.", dns.TypeTXT)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"v=spf1 mx -all"},
		slices.DeleteFunc(done.Applied[0].Before,
			func(s string) bool { return strings.HasPrefix(s, "other") })); diff != "" {
		t.Error(diff)
	}
	server.set(func() {
		if server.records[len(server.records)-1].Header().Ttl != 600 {
			t.Error("the new record does not have the TTL of its set")
		}
	})
}

func TestUpdatesReplaceChosenPolicy(t *testing.T) {
	t.Parallel()
	server := newPrimary(t, "example.com.", `_dmarc.example.com. 600 IN TXT "v=DMARC1; p=none"`, `_dmarc.example.com. 600 IN TXT "other"`)
	z := server.open(t)
	done, err := z.Apply(t.Context(), makePlan(t, z, []Wanted{wantPolicy}))
	if err != nil || len(done.Applied) != 1 {
		t.Fatalf("Apply returned %+v, %v", done, err)
	}
	if diff := cmp.Diff([]string{`"other"`, `"v=DMARC1; p=reject"`}, server.lines("_dmarc.example.com.", dns.TypeTXT)); diff != "" {
		t.Error(diff)
	}
}

func TestUpdatesLeaveConflictsAlone(t *testing.T) {
	t.Parallel()
	lines := []string{"rp.example.com. 60 IN CNAME elsewhere.test.",
		`_dmarc.example.com. 60 IN TXT "v=DMARC1; p=reject"`,
		`example.com. 60 IN TXT "v=spf1 a -all"`, `example.com. 60 IN TXT "v=spf1 mx -all"`}
	server := newPrimary(t, "example.com.", lines...)
	z := server.open(t)
	done, err := z.Apply(t.Context(), makePlan(t, z, allWanted()))
	if err != nil {
		t.Fatal(err)
	}
	if joinPurposes(done.Applied) != "ownership dkim" || joinPurposes(done.Unchanged) != "dmarc" ||
		joinPurposes(done.Conflicts) != "return_path spf" {
		t.Errorf("Apply returned %+v, want ownership and DKIM applied, DMARC unchanged, return path and SPF in conflict", done)
	}
	if got := server.lines("rp.example.com.", dns.TypeCNAME); !cmp.Equal(got, []string{"elsewhere.test."}) {
		t.Errorf("a conflicting record was overwritten: %v", got)
	}
}

// The old SPF record remains the only one if it cannot be removed.
func TestUpdatesUndoFailedReplacement(t *testing.T) {
	t.Parallel()
	t.Run("silent server", func(t *testing.T) {
		t.Parallel()
		server := newPrimary(t, "example.com.", `example.com. 60 IN TXT "v=spf1 -all"`)
		server.set(func() { server.silent = true })
		z := server.open(t)
		done, err := z.Apply(t.Context(), makePlan(t, z, []Wanted{wantSPF}))
		if err != nil {
			t.Fatal(err)
		}
		if joinPurposes(done.Conflicts) != "spf" ||
			!strings.Contains(done.Conflicts[0].Reason, "change it by hand to: v=spf1 include:") {
			t.Errorf("Apply with a silent server returned %+v, want a conflict of SPF to change by hand", done)
		}
	})
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		server := newPrimary(t, "example.com.", `example.com. 60 IN TXT "v=spf1 -all"`)
		server.set(func() { server.refuse = true })
		z := server.open(t)
		_, err := z.Apply(t.Context(), makePlan(t, z, []Wanted{wantOwnership, wantSPF}))
		refused := requireUpstream(t, err)
		if !strings.Contains(refused.Message, "REFUSED") ||
			!cmp.Equal(refused.Details["applied"], any([]string{"ownership"})) {
			t.Errorf("Apply with a server that rejects removals returned %s with details %v, want REFUSED and "+
				"ownership applied",
				refused.Message, refused.Details)
		}
	})
}

func requireUpstream(t testing.TB, err error) *fault.Error {
	t.Helper()
	refused := fault.Classify(err)
	if err == nil || refused.Kind != fault.Upstream || refused.Code != fault.CodeUpstream {
		t.Fatalf("%v is not an upstream error", err)
	}
	return refused
}

func TestUpdatesWithWrongKeyFail(t *testing.T) {
	t.Parallel()
	server := newPrimary(t, "example.com.")
	s := newService(t, server.addr, loopback)
	z, err := s.Open(t.Context(), "rfc2136", secrets("server", server.addr, "key_name", "apply.key", "key", wrongKey),
		"example.com")
	if err != nil {
		t.Fatal(err)
	}
	_, err = z.Plan(t.Context(), allWanted())
	refused := requireUpstream(t, err)
	for _, text := range []string{refused.Message, errors.Unwrap(refused).Error()} {
		if strings.Contains(text, wrongKey) || !strings.Contains(text, "rfc2136") {
			t.Error(text)
		}
	}
}

func TestUpdatesLimitZoneTransfer(t *testing.T) {
	t.Parallel()
	server := newPrimary(t, "example.com.")
	server.set(func() { server.endless = true })
	_, err := server.open(t).Plan(t.Context(), allWanted())
	if refused := requireUpstream(t, err); !strings.Contains(refused.Message, "more than 50000 records") {
		t.Error(refused.Message)
	}
}

func TestUpdatesStopWithTheirContext(t *testing.T) {
	t.Parallel()
	server := newPrimary(t, "example.com.")
	server.mu.Lock() // it never responds
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := server.open(t).Plan(ctx, allWanted())
	server.mu.Unlock()
	if refused := requireUpstream(t, err); !strings.Contains(refused.Message, "did not respond in time") {
		t.Error(refused.Message)
	}
}

func TestServersMustPassGuard(t *testing.T) {
	t.Parallel()
	zone := newPrimary(t, "example.com.", "inside.example.com. 60 IN A 10.0.0.1",
		"mapped.example.com. 60 IN AAAA ::ffff:10.0.0.1")
	s := newService(t, zone.addr)
	for server, reason := range map[string]string{
		"127.0.0.1": "private", "[::1]:53": "private", "10.1.2.3:5353": "private", "inside.example.com": "private", "mapped.example.com": "private",
		"nobody.example.com": "no address", "169.254.169.254:80": "private",
	} {
		_, err := s.Open(t.Context(), "rfc2136", secrets("server", server, "key_name", "k", "key", key), "example.com")
		if refused := fault.Classify(err); err == nil || !strings.Contains(refused.Fields["credentials.server"], reason) {
			t.Errorf("Open with the server %s returned %v, want an error for credentials.server that contains %q",
				server,
				err, reason)
		}
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	server := newPrimary(t, "example.com.", "alias.example.com. 60 IN CNAME other.test.",
		`other.test. 60 IN SOA a. b. 1 2 3 4 5`)
	served := rr(t, "example.com. 60 IN NS Kate.NS.Cloudflare.com.")
	server.set(func() { server.records[1] = served })
	s := newService(t, server.addr)
	for name, zone := range map[string]string{"example.com": "example.com", "a.b.example.com": "example.com",
		"alias.example.com": "example.com",
		"nobody.test":       "", "co.uk": ""} {
		got, err := s.Locate(t.Context(), name)
		if err != nil || got.Zone != zone {
			t.Errorf("Locate of %s returned %+v, %v, want the zone %q", name, got, err, zone)
		}
	}
	want := Location{Zone: "example.com", NameServers: []string{"kate.ns.cloudflare.com"}, Provider: "cloudflare",
		Supported:   true,
		Credentials: []string{"api_token", "zone_token"}}
	got, err := s.Locate(t.Context(), "www.example.com")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func rr(t testing.TB, line string) dns.RR {
	t.Helper()
	made, err := dns.NewRR(line)
	if err != nil {
		t.Fatal(err)
	}
	return made
}
