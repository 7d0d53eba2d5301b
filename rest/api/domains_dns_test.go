package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/domains/publish"
	"github.com/postrider/postrider/rest/api"
	restdomains "github.com/postrider/postrider/rest/domains"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

type fakeDNS struct {
	asked []publish.ApplyInput
	fail  error
}

func (f *fakeDNS) Provider(_ context.Context, _, id string) (publish.Provider, error) {
	if id != domainID {
		return publish.Provider{}, fault.NoSuch("domain", id)
	}
	return publish.Provider{Name: "gandi", Supported: true, Zone: "example.com",
		NameServers: []string{"ns-1-a.gandi.net"}, Credentials: []string{"bearer_token"}}, f.fail
}

func (f *fakeDNS) Apply(_ context.Context, _, _ string, in publish.ApplyInput) (publish.Result, error) {
	f.asked = append(f.asked, in)
	if f.fail != nil {
		return publish.Result{}, f.fail
	}
	records := (&fakeDomains{}).Records(nil)
	change := func(i int, reason string) []publish.RecordChange {
		return []publish.RecordChange{{RecordCheck: records[i], Write: records[i].Value, Before: nil,
			After: []string{records[i].Value}, Reason: reason}}
	}
	return publish.Result{Applied: change(0, ""), Unchanged: change(1, ""),
		Conflicts: change(1, "Something is in the way.")}, nil
}

func dnsBundle(t *testing.T) (*bundle, *fakeDNS) {
	t.Helper()
	b := newBundleFor(t, "/api/domains")
	return b, b.dns
}

const applyPath = "/api/domains/" + domainID + "/dns-records/apply"

func TestDNSProviderIsShown(t *testing.T) {
	t.Parallel()
	b, _ := dnsBundle(t)
	got := b.do(t, request{method: "GET", path: "/api/domains/" + domainID + "/dns-provider"})
	want := `{"provider":{"name":"gandi","supported":true,"zone":"example.com","nameservers":["ns-1-a.gandi.net"],"credentials":["bearer_token"]}}`
	if got.status != 200 || got.body != want {
		t.Errorf("the DNS provider reads as %d %s, want 200 %s", got.status, got.body, want)
	}
	for _, id := range []string{"dom_01kf0m4w7he6x8q2v5b3n9c1tb", "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "%00"} {
		if got := b.do(t, request{method: "GET", path: "/api/domains/" + id + "/dns-provider"}); got.status != 404 {
			t.Errorf("the DNS provider of %s got %d %s, want 404", id, got.status, got.body)
		}
	}
}

func TestApplyDecodesAndAnswers(t *testing.T) {
	t.Parallel()
	b, dns := dnsBundle(t)
	got := b.do(t, request{method: "POST", path: applyPath,
		body: `{"provider":"gandi","credentials":{"bearer_token":"abcdefgh"},"dry_run":true}`})
	want := `{"dry_run":true,"applied":[{"purpose":"dkim","type":"TXT","name":"pr1._domainkey.example.com","value":"v=DKIM1; k=rsa; p=MII","ttl":3600,"before":[],"after":["v=DKIM1; k=rsa; p=MII"],"reason":null}],` +
		`"unchanged":[{"purpose":"inbound_mx","type":"MX","name":"example.com","value":"in.mail.example.org","priority":10,"ttl":3600,"before":[],"after":["in.mail.example.org"],"reason":null}],` +
		`"conflicts":[{"purpose":"inbound_mx","type":"MX","name":"example.com","value":"in.mail.example.org","priority":10,"ttl":3600,"before":[],"after":["in.mail.example.org"],"reason":"Something is in the way."}]}`
	if got.status != 200 || got.body != want {
		t.Fatalf("applying the records got %d\n%s\nwant 200\n%s", got.status, got.body, want)
	}
	in := dns.asked[0]
	if in.Provider != "gandi" || !in.DryRun || in.Credentials["bearer_token"].Reveal() != "abcdefgh" {
		t.Errorf("the service was asked for %+v, want a dry run at gandi with the token", in)
	}
	if printed := fmt.Sprintf("%v %+v %#v", in, in, in); strings.Contains(printed, "abcdefgh") {
		t.Errorf("the credential is printed: %s", printed)
	}
}

func TestApplyNamesEveryWrongField(t *testing.T) {
	t.Parallel()
	b, dns := dnsBundle(t)
	for body, want := range map[string][]string{
		`{}`:                                     {"provider"},
		`{"provider":"nobody","credentials":{}}`: {"provider"},
		`{"provider":"cloudflare"}`:              {"credentials.api_token"},
		`{"provider":"cloudflare","credentials":"x"}`:                  {"credentials", "credentials.api_token"},
		`{"provider":"cloudflare","credentials":{"api_token":7}}`:      {"credentials.api_token"},
		`{"provider":"cloudflare","credentials":{"api_token":"a\nb"}}`: {"credentials.api_token"},
		`{"provider":"ovh","credentials":{"endpoint":"https://169.254.169.254","token":"x"},"dryrun":1}`: {"credentials.application_key",
			"credentials.application_secret", "credentials.consumer_key", "credentials.endpoint", "credentials.token",
			"dryrun"},
		`{"provider":"rfc2136","credentials":{"server":"a b","key_name":"k","key":"?","key_algorithm":"md5"}}`: {"credentials.key", "credentials.key_algorithm", "credentials.server"},
	} {
		got := b.do(t, request{method: "POST", path: applyPath, body: body})
		var problem struct {
			Error struct {
				Code    string            `json:"code"`
				Details map[string]string `json:"details"`
			} `json:"error"`
		}
		if err := json.Unmarshal([]byte(got.body), &problem); err != nil {
			t.Fatal(err)
		}
		var fields []string
		for field := range problem.Error.Details {
			fields = append(fields, field)
		}
		slices.Sort(fields)
		if diff := cmp.Diff(want, fields); got.status != 400 || diff != "" {
			t.Errorf("the body %s got %d %s, want 400 with errors of the right fields:\n%s", body, got.status,
				got.body, diff)
		}
	}
	if len(dns.asked) > 0 {
		t.Errorf("asked with %+v", dns.asked)
	}
}

func TestApplyRefusals(t *testing.T) {
	t.Parallel()
	const body = `{"provider":"gandi","credentials":{"bearer_token":"abcdefgh"}}`
	b, dns := dnsBundle(t)
	dns.fail = (&fault.Error{Kind: fault.Upstream, Code: fault.CodeUpstream,
		Message: "The DNS provider gandi refused: no"}).With("applied", []string{"dkim"})
	got := b.do(t, request{method: "POST", path: applyPath, body: body})
	if got.status != 502 || !strings.Contains(got.body, `"details":{"applied":["dkim"]}`) ||
		!strings.Contains(got.body, "refused: no (request id ") {
		t.Errorf("a refusal by the provider got %d %s, want 502 with what was applied", got.status, got.body)
	}
	for _, scope := range []string{"read", "sending"} {
		if got := b.do(t, request{method: "POST", path: applyPath, body: body, key: scope}); got.status != 403 {
			t.Errorf("applying with a key of scope %s got %d %s, want 403", scope, got.status, got.body)
		}
	}
	if got := b.do(t, request{method: "POST", path: "/api/domains/dom_x/dns-records/apply",
		body: body}); got.status != 404 {
		t.Errorf("applying to an unknown domain got %d %s, want 404", got.status, got.body)
	}
}

func TestApplyIsAnsweredOncePerKey(t *testing.T) {
	t.Parallel()
	b, dns := dnsBundle(t)
	q := request{method: "POST", path: applyPath,
		body:   `{"provider":"gandi","credentials":{"bearer_token":"abcdefgh"}}`,
		header: map[string]string{"Idempotency-Key": "k"}}
	first, second := b.do(t, q), b.do(t, q)
	if first.body != second.body || len(dns.asked) != 1 || second.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d calls; %s", len(dns.asked), second.body)
	}
}

// forgetful loses the first response, like a crash between the work and storing its response.
type forgetful struct {
	fakeStore

	lost bool
}

func (f *forgetful) Record(ctx context.Context, c *idempotency.Claim,
	a idempotency.Response) (idempotency.Response, error) {
	if !f.lost {
		f.lost = true
		return idempotency.Response{}, errors.New("the connection was lost")
	}
	return f.fakeStore.Record(ctx, c, a)
}

// The work runs again, and finds the result of the first run (see dnsprovider's TestUpdatesAddEverythingOnce).
func TestApplyWhoseAnswerWasLostIsDoneAgain(t *testing.T) {
	t.Parallel()
	dns := &fakeDNS{}
	b := newBundle(t, func(o *api.Options) {
		o.Routes = []api.Routes{restdomains.DNSRoutes(dns)}
		o.Answers = &forgetful{fakeStore: fakeStore{answers: map[string]idempotency.Response{}}}
	})
	q := request{method: "POST", path: applyPath,
		body:   `{"provider":"gandi","credentials":{"bearer_token":"abcdefgh"}}`,
		header: map[string]string{"Idempotency-Key": "k"}}
	if first := b.do(t, q); first.status < 500 || len(dns.asked) != 1 {
		t.Fatalf("%d %s after %d calls", first.status, first.body, len(dns.asked))
	}
	again, replayed := b.do(t, q), b.do(t, q)
	if again.status != 200 || again.header.Get("Idempotent-Replayed") != "" || len(dns.asked) != 2 ||
		replayed.body != again.body || replayed.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %s after %d calls, then %s", again.status, again.body, len(dns.asked), replayed.body)
	}
}
