package api_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

const claimID = "clm_01kf0m4w7he6x8q2v5b3n9c1ta"

func (f *fakeDomains) Update(ctx context.Context, account, id string, c domains.DomainChange) (*ent.Domain, error) {
	f.changes = append(f.changes, c)
	return f.Get(ctx, account, id)
}

func (f *fakeDomains) Delete(ctx context.Context, account, id string) error {
	_, err := f.Get(ctx, account, id)
	return err
}

func (f *fakeDomains) ZoneFile(ctx context.Context, account, id string) (string, error) {
	_, err := f.Get(ctx, account, id)
	return "; DNS records of example.com\nexample.com.\t3600\tIN\tMX\t10 in.mail.example.org.\n", err
}

func (f *fakeDomains) StartClaim(ctx context.Context, _, _ string,
	keep func(context.Context, idempotency.Execer, domains.Claim) error) (domains.Claim, error) {
	f.started++
	if f.fail != nil {
		return domains.Claim{}, f.fail
	}
	c := sampleClaim(domains.ClaimPending)
	return c, keep(ctx, nil, c)
}

func (f *fakeDomains) GetClaim(_ context.Context, _, id string) (domains.Claim, error) {
	if id != claimID {
		return domains.Claim{}, fault.NoSuch("claim", id)
	}
	return sampleClaim(domains.ClaimPending), f.fail
}

func (f *fakeDomains) ListClaims(context.Context, string, page.Request) (page.Page[domains.Claim], error) {
	return page.Page[domains.Claim]{Items: []domains.Claim{sampleClaim(domains.ClaimExpired)}, HasMore: true,
		NextCursor: "next"}, f.fail
}

func (f *fakeDomains) VerifyClaim(_ context.Context, _, id string) (domains.Claim, *ent.Domain, error) {
	switch {
	case id != claimID:
		return domains.Claim{}, nil, fault.NoSuch("claim", id)
	case f.unproven:
		c := sampleClaim(domains.ClaimPending)
		c.Record.Error = "Publish a TXT record at _service.example.com."
		return c, nil, f.fail
	}
	return sampleClaim(domains.ClaimCompleted), sampleDomain(), f.fail
}

func sampleClaim(status domains.ClaimStatus) domains.Claim {
	created := time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
	c := domains.Claim{ID: claimID, Name: "example.com", Status: status, CreatedAt: created,
		ExpiresAt: created.AddDate(0, 0, 7), LastCheckedAt: &created,
		Record: dnscheck.RecordCheck{Type: "TXT", Name: "_service.example.com", Value: "postrider-claim=0123"}}
	if status == domains.ClaimCompleted {
		c.CompletedAt = &created
	}
	return c
}

func TestDomainAnswers(t *testing.T) {
	t.Parallel()
	one, claim := "/api/domains/"+domainID, "/api/domains/claims/"+claimID
	unverified := fault.Conflictf(fault.CodeDomainNotVerified, "The domain example.com is not verified")
	claimed := fault.Conflictf(fault.CodeDomainClaimed, "The domain example.com is verified by another account").
		With("claim", map[string]any{
			"type": "TXT", "name": "_service.example.com", "value": "postrider-claim=0123", "how": "If you control example.com, start a claim.",
			"start": map[string]any{"method": "POST", "path": "/domains/claims", "body": map[string]any{"name": "example.com"}}})
	for name, c := range map[string]struct {
		request  request
		fail     error
		unproven bool
		status   int
	}{
		"domain_changed": {request: request{method: "PATCH", path: one,
			body: `{"open_tracking":true,"click_tracking":false,"tls_mode":"enforced","inbound_enabled":true,"ed25519":true}`}, status: 200},
		"domain_change_bad": {request: request{method: "PATCH", path: one,
			body: `{"open_tracking":null,"click_tracking":"yes","tls_mode":"strict","inbound":true,"name":"example.org"}`}, status: 400},
		"domain_change_empty":    {request: request{method: "PATCH", path: one, body: `{}`}, status: 200},
		"domain_change_twice":    {request: request{method: "PATCH", path: one, body: `{"ed25519":true,"ed25519":false}`}, status: 400},
		"domain_change_early":    {request: request{method: "PATCH", path: one, body: `{"tls_mode":"enforced"}`}, fail: unverified, status: 409},
		"domain_change_unknown":  {request: request{method: "PATCH", path: "/api/domains/dom_x", body: `{"tls_mode":"enforced"}`}, status: 404},
		"domain_change_scope":    {request: request{method: "PATCH", path: one, body: `{"tls_mode":"enforced"}`, key: "read"}, status: 403},
		"domain_deleted":         {request: request{method: "DELETE", path: one}, status: 200},
		"domain_delete_unknown":  {request: request{method: "DELETE", path: "/api/domains/dom_x"}, status: 404},
		"domain_delete_scope":    {request: request{method: "DELETE", path: one, key: "sending"}, status: 403},
		"domain_claimed":         {request: request{method: "POST", path: "/api/domains", body: `{"name":"example.com"}`}, fail: claimed, status: 409},
		"zone_file_unknown":      {request: request{method: "GET", path: "/api/domains/dom_x/zone-file"}, status: 404},
		"claim_started":          {request: request{method: "POST", path: "/api/domains/claims", body: `{"name":"example.com"}`}, status: 200},
		"claim_bad":              {request: request{method: "POST", path: "/api/domains/claims", body: `{"nam":"example.com"}`}, status: 400},
		"claim_scope":            {request: request{method: "POST", path: "/api/domains/claims", body: `{"name":"example.com"}`, key: "read"}, status: 403},
		"claims":                 {request: request{method: "GET", path: "/api/domains/claims?limit=3"}, status: 200},
		"claim":                  {request: request{method: "GET", path: claim, key: "read"}, status: 200},
		"claim_unknown":          {request: request{method: "GET", path: "/api/domains/claims/clm_x"}, status: 404},
		"claim_and_domain_paths": {request: request{method: "GET", path: "/api/domains/claims/zone-file"}, status: 404},
		"claim_completed":        {request: request{method: "POST", path: claim + "/verify"}, status: 200},
		"claim_unproven":         {request: request{method: "POST", path: claim + "/verify"}, unproven: true, status: 200},
		"claim_verify_scope":     {request: request{method: "POST", path: claim + "/verify", key: "read"}, status: 403},
		"claim_method":           {request: request{method: "DELETE", path: claim}, status: 405},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundleFor(t, c.request.path)
			b.domains.fail, b.domains.unproven = c.fail, c.unproven
			got := b.do(t, c.request)
			if got.status != c.status || got.header.Get("Content-Type") != "application/json" {
				t.Errorf("status %d, want %d, %s: %s", got.status, c.status, got.header.Get("Content-Type"), got.body)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
}

func TestDomainChangeReachesTheService(t *testing.T) {
	t.Parallel()
	b := newBundleFor(t, "/api/domains")
	b.do(t, request{method: "PATCH", path: "/api/domains/" + domainID,
		body: `{"open_tracking":false,"tls_mode":"opportunistic"}`})
	off, mode := false, "opportunistic"
	if diff := cmp.Diff([]domains.DomainChange{{OpenTracking: &off, TLSMode: &mode}}, b.domains.changes); diff != "" {
		t.Error(diff)
	}
	b.do(t, request{method: "PATCH", path: "/api/domains/" + domainID, body: `{"open_tracking":null}`})
	if len(b.domains.changes) != 1 {
		t.Error("null was taken for a change")
	}
}

func TestZoneFileIsText(t *testing.T) {
	t.Parallel()
	got := newBundleFor(t, "/api/domains").
		do(t, request{method: "GET", path: "/api/domains/" + domainID + "/zone-file", key: "read"})
	if got.status != 200 || got.header.Get("Content-Type") != "text/plain; charset=utf-8" ||
		!strings.HasPrefix(got.body, "; DNS records of example.com\n") {
		t.Errorf("the zone file came as %d %s: %q, want 200 and plain text", got.status, got.header.Get("Content-Type"),
			got.body)
	}
}

func TestClaimIsStartedOncePerKey(t *testing.T) {
	t.Parallel()
	b := newBundleFor(t, "/api/domains")
	q := request{method: "POST", path: "/api/domains/claims", body: `{"name":"example.com"}`,
		header: map[string]string{"Idempotency-Key": "k"}}
	first, second := b.do(t, q), b.do(t, q)
	if first.body != second.body || second.header.Get("Idempotent-Replayed") != "true" || b.domains.started != 1 {
		t.Errorf("started %d times; %q then %q", b.domains.started, first.body, second.body)
	}
	if other := b.do(t, request{method: "POST", path: q.path, body: `{"name":"example.org"}`,
		header: q.header}); other.status != 409 {
		t.Errorf("another body: %d", other.status)
	}
}

func TestClaimAnswersAreJSON(t *testing.T) {
	t.Parallel()
	var got struct {
		Claim  map[string]any
		Domain map[string]any
	}
	body := newBundleFor(t, "/api/domains").
		do(t, request{method: "POST", path: "/api/domains/claims/" + claimID + "/verify"}).body
	if err := json.Unmarshal([]byte(body), &got); err != nil || got.Claim["status"] != "completed" ||
		got.Domain["id"] != domainID {
		t.Errorf("verifying the claim got %+v (decoded: %v), want a completed claim and the domain %s", got,
			err, domainID)
	}
}
