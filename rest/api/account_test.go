package api_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/apikey"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/brand"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

const keyID = "key_01kf0m4w7he6x8q2v5b3n9c1ta"

// fakeAccounts has one account with one key.
type fakeAccounts struct {
	mu     sync.Mutex
	fail   error
	paid   bool
	change accounts.AccountChange

	keyChange accounts.KeyChange
	asked     accounts.NewKey
	made      int
	brand     brand.Brand
}

func (f *fakeAccounts) Brand(context.Context, string) (brand.Brand, error) { return f.brand, f.fail }

func (f *fakeAccounts) SetBrand(_ context.Context, _ string, b brand.Brand) (brand.Brand, error) {
	f.brand, f.brand.UpdatedAt = b, time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC)
	return f.brand, f.fail
}

func (f *fakeAccounts) Profile(context.Context, string) (accounts.Profile, error) {
	day, month := 100, 3000
	created := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	p := accounts.Profile{Account: accounts.Account{ID: accountID, Name: "Acme", Email: "ada@example.com",
		PaymentMethod: true, Plan: accounts.Plan{
			ID: "free", Name: "Free", RequestsPerSecond: 10, DailyEmails: &day, MonthlyEmails: &month, MaxDomains: 1,
			Sandboxed: true},
		BodyRetentionDays: 30, RecordRetentionDays: 90}, CreatedAt: created, UpdatedAt: created}
	p.Usage = accounts.Usage{Day: 12, Month: 340, DailyCap: &day, MonthlyCap: &month,
		DayEnds: time.Date(2026, 1, 16, 0, 0, 0, 0, time.UTC), MonthEnds: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}
	if f.paid {
		p.Plan = accounts.Plan{ID: "pro", Name: "Pro", RequestsPerSecond: 50, MaxDomains: 10}
		p.Usage.DailyCap, p.Usage.MonthlyCap = nil, nil
	}
	return p, f.fail
}

func (f *fakeAccounts) UpdateAccount(_ context.Context, _ string, c accounts.AccountChange) (*ent.Account, error) {
	f.change = c
	return &ent.Account{}, f.fail
}

func (f *fakeAccounts) key() *ent.APIKey {
	created := time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
	return &ent.APIKey{ID: keyID, Name: "web shop", Prefix: "svc_Zk3v9QpA", Mode: apikey.ModeLive, Scope: apikey.ScopeSending,
		CreatedAt: created, LastUsedAt: &created}
}

func (f *fakeAccounts) CreateKey(ctx context.Context, in accounts.NewKey) (*ent.APIKey, secret.String, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return nil, secret.String{}, f.fail
	}
	f.asked = in
	f.made++
	made := f.key()
	made.LastUsedAt, made.DomainIds, made.ExpiresAt = nil, in.DomainIDs, in.ExpiresAt
	token := secret.New("svc_Zk3v9QpA" + strings.Repeat("x", 30) + string(rune('0'+f.made)))
	if in.Keep != nil {
		if err := in.Keep(ctx, nil, made, token); err != nil {
			return nil, secret.String{}, err
		}
	}
	return made, token, nil
}

func (f *fakeAccounts) Keys(_ context.Context, _ string, r page.Request) (page.Page[*ent.APIKey], error) {
	if r.Cursor == "bad" {
		return page.Page[*ent.APIKey]{},
			fault.InvalidField("cursor", "is not a cursor of this list; use next_cursor of an earlier response")
	}
	return page.Page[*ent.APIKey]{Items: []*ent.APIKey{f.key()}, HasMore: true, NextCursor: "next"}, f.fail
}

func (f *fakeAccounts) Key(_ context.Context, _, id string) (*ent.APIKey, error) {
	if id != keyID {
		return nil, fault.NoSuch("API key", id)
	}
	return f.key(), f.fail
}

func (f *fakeAccounts) CreatorsOf(context.Context, string, ...string) (map[string]rights.Creator, error) {
	return map[string]rights.Creator{keyID: {Role: rights.RoleDeveloper}}, f.fail
}

func (f *fakeAccounts) UpdateKey(ctx context.Context, account, id string, c accounts.KeyChange) (*ent.APIKey, error) {
	f.keyChange = c
	return f.Key(ctx, account, id)
}

func (f *fakeAccounts) RotateKey(ctx context.Context, r accounts.Rotation) (*ent.APIKey, secret.String, error) {
	made, err := f.Key(ctx, r.AccountID, r.KeyID)
	token := secret.New("svc_rotated")
	if err == nil && r.Keep != nil {
		err = r.Keep(ctx, nil, made, token)
	}
	return made, token, err
}

func (f *fakeAccounts) RevokeKey(ctx context.Context, account, id string) (*ent.APIKey, error) {
	return f.Key(ctx, account, id)
}

func newAccountBundle(t *testing.T) (*bundle, *fakeAccounts) {
	t.Helper()
	b := newBundleFor(t, "/api/account")
	return b, b.accounts
}

func TestAccountAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request request
		fail    error
		status  int
	}{
		"account":       {request: request{method: "GET", path: "/api/account"}, status: 200},
		"account_scope": {request: request{method: "GET", path: "/api/account", key: "sending"}, status: 403},
		"account_changed": {request: request{method: "PATCH", path: "/api/account",
			body: `{"name":"Acme","body_retention_days":14,"record_retention_days":1.8e2}`}, status: 200},
		"account_change_bad": {request: request{method: "PATCH", path: "/api/account",
			body: `{"name":" ","body_retention_days":366,"record_retention_days":"x","plan":"pro"}`}, status: 400},
		"account_change_half": {request: request{method: "PATCH", path: "/api/account",
			body: `{"body_retention_days":1.5,"record_retention_days":1e300}`}, status: 400},
		"account_change_null":  {request: request{method: "PATCH", path: "/api/account", body: `{"name":null}`}, status: 400},
		"account_change_empty": {request: request{method: "PATCH", path: "/api/account", body: `{}`}, status: 200},
		"account_change_scope": {request: request{method: "PATCH", path: "/api/account", body: `{"name":"x"}`, key: "read"}, status: 403},
		"brand_unset":          {request: request{method: "GET", path: "/api/account/brand"}, status: 200},
		"brand_set": {request: request{method: "PUT", path: "/api/account/brand",
			body: `{"name":"Acme","color":"#1F5FBF","logo":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQj98PAAHeAT6KpYphAAAAAElFTkSuQmCC"}`}, status: 200},
		"brand_bad": {request: request{method: "PUT", path: "/api/account/brand",
			body: `{"name":"a\nb","color":"red","logo":"%%","size":1}`}, status: 400},
		"brand_no_picture": {request: request{method: "PUT", path: "/api/account/brand", body: `{"color":null,"logo":"YWJj"}`}, status: 400},
		"brand_large": {request: request{method: "PUT", path: "/api/account/brand", body: `{"logo":"` +
			strings.Repeat("A", 140_000) + `"}`}, status: 413},
		"brand_scope":        {request: request{method: "PUT", path: "/api/account/brand", body: `{}`, key: "sending"}, status: 403},
		"keys":               {request: request{method: "GET", path: "/api/api-keys?limit=1"}, status: 200},
		"key_rotated":        {request: request{method: "POST", path: "/api/api-keys/" + keyID + "/rotate", body: `{"overlap_seconds":60}`}, status: 200},
		"key_overlap":        {request: request{method: "POST", path: "/api/api-keys/" + keyID + "/rotate", body: `{"overlap_seconds":"1h"}`}, status: 400},
		"keys_address":       {request: request{method: "GET", path: "/api/api-keys", key: "elsewhere"}, status: 403},
		"keys_cursor":        {request: request{method: "GET", path: "/api/api-keys?cursor=bad"}, status: 400},
		"keys_scope_read":    {request: request{method: "GET", path: "/api/api-keys", key: "read"}, status: 403},
		"keys_scope_sending": {request: request{method: "GET", path: "/api/api-keys/" + keyID, key: "sending"}, status: 403},
		"key":                {request: request{method: "GET", path: "/api/api-keys/" + keyID}, status: 200},
		"key_unknown":        {request: request{method: "GET", path: "/api/api-keys/key_x"}, status: 404},
		"key_created": {request: request{method: "POST", path: "/api/api-keys",
			body: `{"name":"web shop","scope":"sending","domain_ids":["` + domainID +
				`"],"expires_at":"2126-01-15T09:30:00+01:00"}`}, status: 200},
		"key_bad": {request: request{method: "POST", path: "/api/api-keys",
			body: `{"scope":"admin","domain_ids":["example.com",1],"expires_at":"2020-01-15T09:30:00Z","name":"a\nb"}`},
			status: 400},
		"key_bad_types": {request: request{method: "POST", path: "/api/api-keys",
			body: `{"scope":"","domain_ids":"x","expires_at":"soon","Name":"x"}`}, status: 400},
		"key_create_scope": {request: request{method: "POST", path: "/api/api-keys", body: `{"name":"x"}`, key: "sending"}, status: 403},
		"key_renamed": {request: request{method: "PATCH", path: "/api/api-keys/" + keyID, body: `{"name":"web shop"}`},
			status: 200},
		"key_rename_unknown": {request: request{method: "PATCH", path: "/api/api-keys/key_01kf0m4w7he6x8q2v5b3n9c1tb",
			body: `{"name":"x"}`}, status: 404},
		"key_rename_bad": {request: request{method: "PATCH", path: "/api/api-keys/" + keyID,
			body: `{"name":"","scope":"full"}`}, status: 400},
		"key_rename_scope": {request: request{method: "PATCH", path: "/api/api-keys/" + keyID, body: `{"name":"x"}`,
			key: "read"}, status: 403},
		"key_revoked":        {request: request{method: "DELETE", path: "/api/api-keys/" + keyID}, status: 200},
		"key_revoke_unknown": {request: request{method: "DELETE", path: "/api/api-keys/key_01kf0m4w7he6x8q2v5b3n9c1tb"}, status: 404},
		"key_revoke_scope":   {request: request{method: "DELETE", path: "/api/api-keys/" + keyID, key: "read"}, status: 403},
		"plan_limit": {request: request{method: "POST", path: "/api/api-keys", body: `{"name":"x"}`}, status: 429, fail: (&fault.Error{Kind: fault.Limit,
			Code: fault.CodePlanLimit, UpgradeURL: accounts.UpgradeURL,
			Message: "The plan Free allows 100 emails a day, and they are sent; the next day begins at 2026-01-16T00:00:00Z"}).
			With("cap", "daily").With("limit", 100).With("resets_at", "2026-01-16T00:00:00Z")},
		"account_suspended": {request: request{method: "GET", path: "/api/account"}, status: 403, fail: accounts.ErrSuspended()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, service := newAccountBundle(t)
			service.fail = c.fail
			got := b.do(t, c.request)
			if got.status != c.status {
				t.Errorf("status %d, want %d: %s", got.status, c.status, got.body)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
}

func TestAccountChangeReachesTheService(t *testing.T) {
	t.Parallel()
	b, service := newAccountBundle(t)
	b.do(t, request{method: "PATCH", path: "/api/account", body: `{"body_retention_days":14}`})
	if c := service.change; c.BodyRetentionDays == nil || *c.BodyRetentionDays != 14 || c.Name != nil ||
		c.RecordRetentionDays != nil || c.Plan != nil {
		t.Errorf("the service was asked for the change %+v, want a body retention of 14 days and nothing else", c)
	}
}

func TestKeyChangeReachesTheService(t *testing.T) {
	t.Parallel()
	b, service := newAccountBundle(t)
	for body, want := range map[string]*string{`{"name":"shop"}`: new("shop"), `{}`: nil} {
		service.keyChange = accounts.KeyChange{}
		got := b.do(t, request{method: "PATCH", path: "/api/api-keys/" + keyID, body: body})
		if diff := cmp.Diff(want, service.keyChange.Name); diff != "" || got.status != 200 {
			t.Errorf("%s: status %d, and the service got the name (-want +got):\n%s", body, got.status, diff)
		}
	}
}

func TestUsageIsToldOfPlansWithoutCaps(t *testing.T) {
	t.Parallel()
	b, service := newAccountBundle(t)
	service.paid = true
	got := b.do(t, request{method: "GET", path: "/api/account"}).body
	for _, want := range []string{`"day":12`, `"month":340`, `"daily_cap":null`, `"production_unlocked":true`} {
		if !strings.Contains(got, want) {
			t.Errorf("the account of a plan without caps has no %s in %s", want, got)
		}
	}
}

// The calling key limits the new one, so the service must receive it.
func TestNewKeyKnowsItsMaker(t *testing.T) {
	t.Parallel()
	b, service := newAccountBundle(t)
	b.do(t, request{method: "POST", path: "/api/api-keys", body: `{"name":"x","domain_ids":["` + domainID + `"]}`})
	if in := service.asked; in.MakerKeyID != "key_1" || in.AccountID != accountID ||
		!slices.Equal(in.DomainIDs, []string{domainID}) || in.Scope != "" {
		t.Errorf("the service was asked for the key %+v, want one made by key_1 for the domain %s without a scope",
			in, domainID)
	}
}

// A replay shows the same secret, which the stored row does not contain.
func TestStoredAnswerWithASecretIsSealed(t *testing.T) {
	t.Parallel()
	b, service := newAccountBundle(t)
	q := request{method: "POST", path: "/api/api-keys", body: `{"name":"web shop"}`,
		header: map[string]string{"Idempotency-Key": "k1"}}
	first := b.do(t, q)
	var shown struct{ Secret string }
	if err := json.Unmarshal([]byte(first.body), &shown); err != nil || !strings.HasPrefix(shown.Secret, "svc_") {
		t.Fatalf("adding a key got %d %s (decoded: %v), want its secret", first.status, first.body, err)
	}
	again := b.do(t, q)
	if again.body != first.body || again.header.Get("Idempotent-Replayed") != "true" || service.made != 1 {
		t.Errorf("replay: %s, %d keys were made", again.body, service.made)
	}
	kept := b.store.answers["k1"]
	if len(kept.Body) == 0 || strings.Contains(string(kept.Body), shown.Secret) ||
		strings.Contains(string(kept.Body), "web shop") {
		t.Errorf("stored: %q", kept.Body)
	}
	b.store.answers["k1"] = idempotency.Response{Status: 200, Body: []byte("under a key that is gone")}
	if got := b.do(t, q); got.status != 409 || !strings.Contains(got.body, "can no longer be decrypted") {
		t.Errorf("unreadable: %d %s", got.status, got.body)
	}
}
