package dnsprovider

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/digitalocean/godo"
	"github.com/google/go-cmp/cmp"
	"github.com/libdns/digitalocean"
	"github.com/miekg/dns"
	"go.uber.org/goleak"
)

// swapper sends what is meant for a provider's host to the scripted server of the
// test that has the token. Most libraries use the default transport only; that of
// route53 does not, and is led to a server by its environment.
type swapper struct {
	mu      sync.Mutex
	servers map[string]*httptest.Server
	wire    *http.Transport
}

var swap = &swapper{servers: map[string]*httptest.Server{}, wire: &http.Transport{}}

func TestMain(m *testing.M) {
	http.DefaultTransport = swap
	aws := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server := swap.find(r)
		if server == nil {
			http.Error(w, "no server has the key", http.StatusForbidden)
			return
		}
		server.Config.Handler.ServeHTTP(w, r)
	}))
	aws.Config.SetKeepAlivesEnabled(false)
	aws.Start()
	if err := os.Setenv("AWS_ENDPOINT_URL_ROUTE_53", aws.URL); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

// find tells for which test a request is, by the credential in it.
func (s *swapper) find(r *http.Request) *httptest.Server {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if scope, signed := strings.CutPrefix(token, "Credential="); signed {
		token, _, _ = strings.Cut(scope, "/")
	}
	if key := r.Header.Get("X-Ovh-Application"); key != "" {
		token = key
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.servers[token]
}

func (s *swapper) RoundTrip(r *http.Request) (*http.Response, error) {
	server := s.find(r)
	if server == nil {
		return nil, errors.New("no server has the token")
	}
	target, err := url.Parse(server.URL)
	if err != nil {
		return nil, err
	}
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host = target.Scheme, target.Host
	return s.wire.RoundTrip(out)
}

// entry is one record of a book, in the provider's own words.
type entry struct {
	ID       int
	Type     string
	Name     string
	Value    string
	Priority int
	TTL      int
}

// book is a zone as a provider's API keeps it.
type book struct {
	token string
	mu    sync.Mutex
	next  int
	list  []entry
	calls []string
}

// serve starts the scripted API of one provider over a book and opens its zone.
func serve(t testing.TB, name string, api func(*book) http.Handler, entries ...entry) (*book, *Zone) {
	t.Helper()
	b := &book{token: fmt.Sprintf("%x", sha256.Sum256([]byte(t.Name())))}
	for _, e := range entries {
		b.add(e)
	}
	handler := api(b)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.calls = append(b.calls, r.Method)
		handler.ServeHTTP(w, r)
	}))
	swap.mu.Lock()
	swap.servers[b.token] = server
	swap.mu.Unlock()
	t.Cleanup(func() { swap.wire.CloseIdleConnections(); server.Close() })
	s := newService(t, "127.0.0.1:1")
	s.http.Transport = swap
	given := secrets(Credentials(name)[0].Name, b.token)
	switch name {
	case "ovh":
		given = secrets("endpoint", "ovh-eu", "application_key", b.token, "application_secret", "a-secret-of-ovh", "consumer_key", "a-consumer-of-ovh")
	case "route53":
		given = secrets("access_key_id", b.token, "secret_access_key", "a-secret-of-aws")
	}
	z, err := s.Open(t.Context(), name, given, "example.com")
	if err != nil {
		t.Fatal(err)
	}
	if do, ok := z.backend.(*digitalocean.Provider); ok {
		intoDigitalOcean(t, do, b.token)
	}
	return b, z
}

// intoDigitalOcean gives the library a client: it makes its own, with a transport
// of its own, and has no setting for either.
func intoDigitalOcean(t testing.TB, p *digitalocean.Provider, token string) {
	t.Helper()
	client, err := godo.New(&http.Client{Transport: bearer{token}})
	if err != nil {
		t.Fatal(err)
	}
	field := reflect.ValueOf(&p.Client).Elem().FieldByName("client")
	reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.ValueOf(client))
}

type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return swap.RoundTrip(r)
}

func (b *book) add(e entry) entry {
	b.next++
	e.ID = b.next
	b.list = append(b.list, e)
	return e
}

func (b *book) values(name, recordType string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, e := range b.list {
		if e.Name == name && e.Type == recordType {
			out = append(out, e.Value)
		}
	}
	slices.Sort(out)
	return out
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

type object = map[string]any

func cloudflareAPI(b *book) http.Handler {
	mux := http.NewServeMux()
	show := func(e entry) object {
		return object{"id": strconv.Itoa(e.ID), "type": e.Type, "name": e.Name, "content": e.Value, "ttl": e.TTL, "priority": e.Priority}
	}
	mux.HandleFunc("GET /client/v4/zones", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, object{"success": true, "result": []any{object{"id": "z1", "name": "example.com"}}})
	})
	mux.HandleFunc("GET /client/v4/zones/z1/dns_records", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		found := []any{}
		for _, e := range b.list {
			if (q.Get("type") == "" || q.Get("type") == e.Type) && (q.Get("name") == "" || strings.TrimSuffix(q.Get("name"), ".") == e.Name) &&
				strings.Contains(e.Value, q.Get("content.contains")) {
				found = append(found, show(e))
			}
		}
		const size = 2 // small pages: the second must be read too
		if page, err := strconv.Atoi(q.Get("page")); err == nil {
			from := (page - 1) * size
			reply(w, 200, object{"success": true, "result": found[min(from, len(found)):min(from+size, len(found))],
				"result_info": object{"page": page, "per_page": size, "count": size, "total_count": len(found)}})
			return
		}
		reply(w, 200, object{"success": true, "result": found, "result_info": object{"page": 1, "per_page": 100, "total_count": len(found)}})
	})
	mux.HandleFunc("POST /client/v4/zones/z1/dns_records", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Type, Name, Content string
			TTL, Priority       int
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			reply(w, 400, object{"errors": []any{object{"message": err.Error()}}})
			return
		}
		name := in.Name + ".example.com"
		if in.Name == "@" {
			name = "example.com"
		}
		e := b.add(entry{Type: in.Type, Name: name, Value: in.Content, TTL: in.TTL, Priority: in.Priority})
		reply(w, 200, object{"success": true, "result": show(e)})
	})
	mux.HandleFunc("DELETE /client/v4/zones/z1/dns_records/{id}", func(w http.ResponseWriter, r *http.Request) {
		b.list = slices.DeleteFunc(b.list, func(e entry) bool { return strconv.Itoa(e.ID) == r.PathValue("id") })
		reply(w, 200, object{"success": true, "result": object{"id": r.PathValue("id")}})
	})
	return mux
}

func digitaloceanAPI(b *book) http.Handler {
	mux := http.NewServeMux()
	show := func(e entry) object {
		return object{"id": e.ID, "type": e.Type, "name": e.Name, "data": e.Value, "ttl": e.TTL, "priority": e.Priority}
	}
	mux.HandleFunc("GET /v2/domains/example.com/records", func(w http.ResponseWriter, r *http.Request) {
		page := max(1, atoi(r.URL.Query().Get("page")))
		const size = 2
		from, to := min((page-1)*size, len(b.list)), min(page*size, len(b.list))
		found, links := []any{}, object{}
		for _, e := range b.list[from:to] {
			found = append(found, show(e))
		}
		if page > 1 {
			links["prev"] = fmt.Sprintf("https://api.digitalocean.com/v2/domains/example.com/records?page=%d", page-1)
		}
		if to < len(b.list) {
			links["next"] = fmt.Sprintf("https://api.digitalocean.com/v2/domains/example.com/records?page=%d", page+1)
			links["last"] = "https://api.digitalocean.com/v2/domains/example.com/records?page=9"
		}
		reply(w, 200, object{"domain_records": found, "links": object{"pages": links}, "meta": object{"total": len(b.list)}})
	})
	mux.HandleFunc("POST /v2/domains/example.com/records", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Type, Name, Data string
			TTL              int
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Type == "CNAME" && !strings.HasSuffix(in.Data, ".") {
			reply(w, 422, object{"id": "unprocessable_entity", "message": "Data needs to end with a dot (.)"})
			return
		}
		e := b.add(entry{Type: in.Type, Name: in.Name, Value: strings.TrimSuffix(in.Data, "."), TTL: in.TTL})
		reply(w, 201, object{"domain_record": show(e)})
	})
	mux.HandleFunc("DELETE /v2/domains/example.com/records/{id}", func(w http.ResponseWriter, r *http.Request) {
		b.list = slices.DeleteFunc(b.list, func(e entry) bool { return e.ID == atoi(r.PathValue("id")) })
		w.WriteHeader(204)
	})
	return mux
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// badStrings tells what a provider refuses that wants zone file texts.
func badStrings(e entry) string {
	if e.Type != "TXT" {
		return ""
	}
	rr, err := dns.NewRR("x. 60 IN TXT " + e.Value)
	if err != nil || !strings.HasPrefix(e.Value, `"`) {
		return "TXT must be quoted strings"
	}
	for _, part := range rr.(*dns.TXT).Txt {
		if len(part) > 255 {
			return "TXT strings have at most 255 octets"
		}
	}
	return ""
}

func hetznerAPI(b *book) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/zones/{zone}", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, object{"zone": object{"id": 7, "name": "example.com", "ttl": 3600}})
	})
	mux.HandleFunc("GET /v1/zones/{zone}/rrsets", func(w http.ResponseWriter, _ *http.Request) {
		sets, order := map[string]object{}, []any{}
		for _, e := range b.list {
			key := e.Name + "/" + e.Type
			if sets[key] == nil {
				sets[key] = object{"id": key, "name": e.Name, "type": e.Type, "ttl": e.TTL, "records": []any{}, "zone": 7}
				order = append(order, sets[key])
			}
			sets[key]["records"] = append(sets[key]["records"].([]any), object{"value": e.Value})
		}
		reply(w, 200, object{"rrsets": order, "meta": object{"pagination": object{"page": 1, "per_page": 100, "total_entries": len(order), "last_page": 1}}})
	})
	done := object{"action": object{"id": 1, "status": "success", "command": "x", "progress": 100}}
	change := func(do func(e entry, ttl *int) string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var in struct {
				TTL     *int
				Records []struct{ Value string }
			}
			var problem string
			if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.Records) != 1 {
				problem = "bad body"
			} else {
				problem = do(entry{Name: r.PathValue("name"), Type: r.PathValue("type"), Value: in.Records[0].Value, TTL: 3600}, in.TTL)
			}
			if problem != "" {
				reply(w, 422, object{"error": object{"code": "invalid_input", "message": problem}})
				return
			}
			reply(w, 201, done)
		}
	}
	mux.HandleFunc("POST /v1/zones/{zone}/rrsets/{name}/{type}/actions/add_records", change(func(e entry, ttl *int) string {
		for _, other := range b.list {
			if other.Name == e.Name && other.Type == e.Type && ttl != nil && *ttl != other.TTL {
				return "the TTL differs from that of the set"
			}
		}
		b.add(e)
		return badStrings(e)
	}))
	mux.HandleFunc("POST /v1/zones/{zone}/rrsets/{name}/{type}/actions/remove_records", change(func(e entry, _ *int) string {
		b.list = slices.DeleteFunc(b.list, func(other entry) bool {
			return other.Name == e.Name && other.Type == e.Type && other.Value == e.Value
		})
		return ""
	}))
	mux.HandleFunc("GET /v1/actions", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, object{"actions": []any{done["action"]}})
	})
	return mux
}

func gandiAPI(b *book) http.Handler {
	mux := http.NewServeMux()
	const base = "https://api.gandi.net/v5/livedns/domains/example.com/records"
	mux.HandleFunc("GET /v5/livedns/domains/example.com", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, object{"fqdn": "example.com", "domain_records_href": base})
	})
	sets := func(name, recordType string) []object {
		var list []object
		for _, e := range b.list {
			if name != "" && (e.Name != name || e.Type != recordType) {
				continue
			}
			n := slices.IndexFunc(list, func(o object) bool { return o["rrset_name"] == e.Name && o["rrset_type"] == e.Type })
			if n < 0 {
				list, n = append(list, object{"rrset_name": e.Name, "rrset_type": e.Type, "rrset_ttl": e.TTL, "rrset_values": []string{}}), len(list)
			}
			list[n]["rrset_values"] = append(list[n]["rrset_values"].([]string), e.Value)
		}
		return list
	}
	const path = "/v5/livedns/domains/example.com/records"
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, sets("", "")) })
	mux.HandleFunc("GET "+path+"/{name}/{type}", func(w http.ResponseWriter, r *http.Request) {
		found := sets(r.PathValue("name"), r.PathValue("type"))
		if len(found) == 0 {
			reply(w, 404, object{"code": 404, "message": "no such record"})
			return
		}
		reply(w, 200, found[0])
	})
	mux.HandleFunc("PUT "+path+"/{name}/{type}", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			RRSetTTL    int      `json:"rrset_ttl"`
			RRSetValues []string `json:"rrset_values"`
		}
		err := json.NewDecoder(r.Body).Decode(&in)
		b.list = slices.DeleteFunc(b.list, func(e entry) bool { return e.Name == r.PathValue("name") && e.Type == r.PathValue("type") })
		for _, v := range in.RRSetValues {
			e := b.add(entry{Name: r.PathValue("name"), Type: r.PathValue("type"), Value: v, TTL: in.RRSetTTL})
			if problem := badStrings(e); err != nil || problem != "" {
				reply(w, 400, object{"code": 400, "message": problem})
				return
			}
		}
		reply(w, 201, object{"message": "DNS Record Created"})
	})
	return mux
}

// Every provider does the same: adds, merges the SPF record of two strings,
// keeps the neighbours, leaves a conflict alone, and finds nothing to do twice.
func TestHTTPProviders(t *testing.T) {
	t.Parallel()
	longSPF := "v=spf1 " + strings.Repeat("ip4:198.51.100.100 ", 15) + "-all"
	for name, c := range map[string]struct {
		api  func(*book) http.Handler
		full bool // names in full
		text func(string) string
	}{
		"cloudflare":   {cloudflareAPI, true, quoteStrings},
		"digitalocean": {digitaloceanAPI, false, func(s string) string { return s }},
		"hetzner":      {hetznerAPI, false, quoteStrings},
		"gandi":        {gandiAPI, false, quoteStrings},
		"ovh":          {ovhAPI, false, func(s string) string { return `"` + s + `"` }},
		"route53":      {route53API, true, quoteStrings},
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
			plan := planned(t, z, allWanted())
			b.mu.Lock()
			if slices.ContainsFunc(b.calls, func(method string) bool { return method != "GET" }) {
				t.Errorf("a plan wrote: %v", b.calls)
			}
			b.mu.Unlock()
			done, err := z.Apply(t.Context(), plan)
			if err != nil {
				t.Fatal(err)
			}
			if purposes(done.Applied) != "ownership dkim spf" || purposes(done.Unchanged) != "dmarc" || purposes(done.Conflicts) != "return_path" {
				t.Errorf("applied %s, unchanged %s, conflicts %+v", purposes(done.Applied), purposes(done.Unchanged), done.Conflicts)
			}
			texts := b.values(apex, "TXT")
			for i := range texts {
				texts[i] = joinStrings(texts[i])
			}
			want := []string{"google-site-verification=1", strings.Replace(longSPF, "-all", "include:spf.postrider.test -all", 1)}
			if diff := cmp.Diff(want, texts); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"elsewhere.test."}, b.values(at("rp"), "CNAME")); diff != "" {
				t.Error(diff)
			}
			if again := planned(t, z, allWanted()); len(again.Applied) > 0 {
				t.Errorf("a second time: %+v", again.Applied)
			}
		})
		t.Run(name+" adds aliases", func(t *testing.T) {
			t.Parallel()
			b, z := serve(t, name, c.api)
			done, err := z.Apply(t.Context(), planned(t, z, []Wanted{wantPath}))
			if err != nil || purposes(done.Applied) != "return_path" || len(b.list) != 1 || canonical(b.list[0].Value) != "rp.postrider.test" {
				t.Errorf("%v %+v %+v", err, done, b.list)
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
					reply(w, 403, object{"code": 403, "message": said, "id": "forbidden", "error": object{"code": "forbidden", "message": said},
						"errors": []any{object{"code": 9109, "message": said}}})
				})
			})
			_, err := z.Plan(t.Context(), allWanted())
			refused := upstream(t, err)
			for _, text := range []string{refused.Message, errors.Unwrap(refused).Error()} {
				if strings.Contains(text, token[:9]) || !strings.Contains(text, "bad token [redacted]") {
					t.Error(text)
				}
			}
		})
	}
}

func TestDigitalOceanTakesNoMX(t *testing.T) {
	t.Parallel()
	_, z := serve(t, "digitalocean", digitaloceanAPI)
	if p := planned(t, z, []Wanted{wantMX}); purposes(p.Conflicts) != "inbound_mx" || !strings.Contains(p.Conflicts[0].Reason, "by hand") {
		t.Errorf("%+v", p)
	}
}

// A library that panics is a refusal: cloudflare v0.2.2 does without result_info.
// Remove Zone.guarded when it no longer does.
func TestPanicsOfLibrariesAreRefusals(t *testing.T) {
	t.Parallel()
	_, z := serve(t, "cloudflare", func(*book) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			reply(w, 200, object{"success": true, "result": []any{object{"id": "z1"}}})
		})
	})
	_, err := z.Plan(t.Context(), allWanted())
	if refused := upstream(t, err); !strings.Contains(refused.Message, "its answer was not understood") {
		t.Error(refused.Message)
	}
}

func TestNameServersTellTheProvider(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"kate.ns.cloudflare.com": "cloudflare", "ns-2048.awsdns-64.com": "route53", "ns-1.awsdns-01.co.uk": "route53", "ns1.digitalocean.com": "digitalocean",
		"helium.ns.hetzner.de": "hetzner", "ns-12-a.gandi.net": "gandi", "dns10.ovh.net": "ovh", "ns01.domaincontrol.com": "godaddy",
		"dns1.registrar-servers.com": "namecheap", "notgandi.net": "", "awsdns-64.com": "", "ns1.example.com": "", "": "",
	} {
		if got := runBy([]string{host}); got != want {
			t.Errorf("%s is %q, want %q", host, got, want)
		}
	}
}

func TestScrubbing(t *testing.T) {
	t.Parallel()
	p := find("ovh")
	s := p.scrubber(given{"endpoint": "ovh-eu", "application_key": "k3y", "application_secret": "s/cret+value=", "consumer_key": "consumer-key-1"})
	for in, want := range map[string]string{
		"at ovh-eu: k3y refused":            "at ovh-eu: [redacted] refused",
		"s/cret+value= and consumer-key-1":  "[redacted] and [redacted]",
		"?secret=s%2Fcret%2Bvalue%3D&a=b":   "?secret=[redacted]&a=b",
		"cHMvY3JldA== Y29uc3VtZXIta2V5LTE=": "cHMvY3JldA== [redacted]",
		"line one\r\nline\x00two":           "line one line two",
		"nothing":                           "nothing",
	} {
		if got := s.clean(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := s.clean(strings.Repeat("ab ", 1000)); len(got) > 410 {
		t.Errorf("%d octets", len(got))
	}
}
