package dnsprovider

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every provider adds records, merges an SPF record of two strings, keeps other records, does not change a
// conflicting record, and has nothing to do the second time.
func TestHTTPProviders(t *testing.T) {
	t.Parallel()
	longSPF := "v=spf1 " + strings.Repeat("ip4:198.51.100.100 ", 15) + "-all"
	for name, c := range map[string]struct {
		api  func(*book) http.Handler
		full bool // full names
		text func(string) string
	}{
		"cloudflare":   {cloudflareAPI, true, quoteStrings},
		"digitalocean": {digitaloceanAPI, false, func(s string) string { return s }},
		"hetzner":      {hetznerAPI, false, quoteStrings},
		"gandi":        {gandiAPI, false, quoteStrings},
		"ovh":          {ovhAPI, false, func(s string) string { return `"` + s + `"` }},
		"route53":      {route53Server, true, quoteStrings},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apex, at := "@", func(label string) string { return label }
			if name == "ovh" {
				apex = ""
			}
			if c.full {
				apex, at = "example.com", func(label string) string { return label + ".example.com" }
			}
			b, z := serve(t, name, c.api,
				entry{Type: "A", Name: apex, Value: "192.0.2.1", TTL: 300},
				entry{Type: "TXT", Name: apex, Value: c.text("google-site-verification=1"), TTL: 300},
				entry{Type: "TXT", Name: apex, Value: c.text(longSPF), TTL: 300},
				entry{Type: "CNAME", Name: at("rp"), Value: "elsewhere.test.", TTL: 300},
				entry{Type: "TXT", Name: at("_dmarc"), Value: c.text("v=DMARC1; p=reject"), TTL: 300})
			plan := makePlan(t, z, allWanted())
			b.mu.Lock()
			if slices.ContainsFunc(b.calls, func(method string) bool { return method != "GET" }) {
				t.Errorf("Plan changed the zone: %v", b.calls)
			}
			b.mu.Unlock()
			done, err := z.Apply(t.Context(), plan)
			if err != nil {
				t.Fatal(err)
			}
			if joinPurposes(done.Applied) != "ownership dkim spf" || joinPurposes(done.Unchanged) != "dmarc" ||
				joinPurposes(done.Conflicts) != "return_path" {
				t.Errorf("got applied %s, unchanged %s, conflicts %+v", joinPurposes(done.Applied),
					joinPurposes(done.Unchanged), done.Conflicts)
			}
			texts := b.values(apex, "TXT")
			for i := range texts {
				texts[i] = joinStrings(texts[i])
			}
			want := []string{"google-site-verification=1",
				strings.Replace(longSPF, "-all", "include:spf.postrider.test -all", 1)}
			if diff := cmp.Diff(want, texts); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"elsewhere.test."}, b.values(at("rp"), "CNAME")); diff != "" {
				t.Error(diff)
			}
			if again := makePlan(t, z, allWanted()); len(again.Applied) > 0 {
				t.Errorf("the second Apply returned %+v", again.Applied)
			}
		})
		t.Run(name+" adds aliases", func(t *testing.T) {
			t.Parallel()
			b, z := serve(t, name, c.api)
			done, err := z.Apply(t.Context(), makePlan(t, z, []Wanted{wantPath}))
			if err != nil || joinPurposes(done.Applied) != "return_path" || len(b.list) != 1 ||
				canonicalName(b.list[0].Value) != "rp.postrider.test" {
				t.Errorf("Apply of an alias returned %v, %+v and the records %+v, want the return path applied as the one record", err, done, b.list)
			}
		})
		t.Run(name+" adds MX records", func(t *testing.T) {
			t.Parallel()
			b, z := serve(t, name, c.api)
			done, err := z.Apply(t.Context(), makePlan(t, z, []Wanted{wantMX}))
			if err != nil || joinPurposes(done.Applied) != "inbound_mx" || len(b.list) != 1 {
				t.Fatalf("Apply of an MX record returned %v, %+v and the records %+v, want it applied as the one record", err, done, b.list)
			}
			if again := makePlan(t, z, []Wanted{wantMX}); joinPurposes(again.Unchanged) != "inbound_mx" {
				t.Errorf("the second plan is %+v, want the record unchanged", again)
			}
		})
		t.Run(name+" echoes the token", func(t *testing.T) {
			t.Parallel()
			var token string
			_, z := serve(t, name, func(b *book) http.Handler {
				token = b.token
				return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					said := "bad token " + b.token + ", it starts with " + b.token[:9]
					if name == "route53" {
						refuseRoute53(w, said)
						return
					}
					reply(w, 403, object{"code": 403, "message": said, "id": "forbidden",
						"error":  object{"code": "forbidden", "message": said},
						"errors": []any{object{"code": 9109, "message": said}}})
				})
			})
			_, err := z.Plan(t.Context(), allWanted())
			refused := requireUpstream(t, err)
			for _, text := range []string{refused.Message, errors.Unwrap(refused).Error()} {
				if strings.Contains(text, token[:9]) || !strings.Contains(text, "bad token [redacted]") {
					t.Error(text)
				}
			}
		})
	}
}

// A panic of a library becomes an error: cloudflare v0.2.2 panics without result_info. Remove
// Zone.callProvider once this is fixed.
func TestLibraryPanicsBecomeErrors(t *testing.T) {
	t.Parallel()
	_, z := serve(t, "cloudflare", func(*book) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			reply(w, 200, object{"success": true, "result": []any{object{"id": "z1"}}})
		})
	})
	_, err := z.Plan(t.Context(), allWanted())
	if refused := requireUpstream(t, err); !strings.Contains(refused.Message, "invalid response") {
		t.Error(refused.Message)
	}
}

func TestNameServersIdentifyProvider(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"kate.ns.cloudflare.com": "cloudflare", "ns-2048.awsdns-64.com": "route53", "ns-1.awsdns-01.co.uk": "route53", "ns1.digitalocean.com": "digitalocean",
		"helium.ns.hetzner.de": "hetzner", "ns-12-a.gandi.net": "gandi", "dns10.ovh.net": "ovh", "ns01.domaincontrol.com": "godaddy",
		"dns1.registrar-servers.com": "namecheap", "notgandi.net": "", "awsdns-64.com": "", "ns1.example.com": "", "": "",
	} {
		if got := runBy([]string{host}); got != want {
			t.Errorf("the provider of %s is %q, want %q", host, got, want)
		}
	}
}

func TestScrubsCredentials(t *testing.T) {
	t.Parallel()
	p := findProvider("ovh")
	s := p.scrubber(given{"endpoint": "ovh-eu", "application_key": "k3y", "application_secret": "s/cret+value=",
		"consumer_key": "consumer-key-1"})
	for in, want := range map[string]string{
		"at ovh-eu: k3y refused":            "at ovh-eu: [redacted] refused",
		"s/cret+value= and consumer-key-1":  "[redacted] and [redacted]",
		"?secret=s%2Fcret%2Bvalue%3D&a=b":   "?secret=[redacted]&a=b",
		"cHMvY3JldA== Y29uc3VtZXIta2V5LTE=": "cHMvY3JldA== [redacted]",
		"line one\r\nline\x00two":           "line one line two",
		"nothing":                           "nothing",
	} {
		if got := s.clean(in); got != want {
			t.Errorf("scrubbing %q returned %q, want %q", in, got, want)
		}
	}
	if got := s.clean(strings.Repeat("ab ", 1000)); len(got) > 410 {
		t.Errorf("got %d bytes", len(got))
	}
}
