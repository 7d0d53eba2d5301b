package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/attempt"
	"github.com/postrider/postrider/ent/dkimkey"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/accounts/rights/rightstest"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/lint"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

type fakeAuth struct{}

func (fakeAuth) Authenticate(_ context.Context, bearer string, from netip.Addr) (accounts.Caller, error) {
	if name, is := strings.CutPrefix(bearer, "svc_test_"); is {
		c, err := fakeAuth{}.Authenticate(context.Background(), "svc_"+name, from)
		c.AccountID = id.TestTenantOf(c.AccountID)
		return c, err
	}
	if name, is := strings.CutPrefix(bearer, "svc_permission_"); is {
		return accounts.Caller{AccountID: accountID, KeyID: "key_1", Scope: rights.ScopeFull,
			Permissions: []rights.Permission{rights.Permission(name)}}, nil
	}
	switch bearer {
	case "svc_full", "svc_sending", "svc_read":
		return accounts.Caller{AccountID: accountID, KeyID: "key_1",
			Scope: rights.Scope(strings.TrimPrefix(bearer, "svc_"))}, nil
	case "svc_developers", "svc_former":
		return accounts.Caller{AccountID: accountID, KeyID: "key_1", Scope: rights.ScopeFull,
			Creator: &rights.Creator{Role: rights.RoleDeveloper, Former: bearer == "svc_former"}}, nil
	case "svc_limited":
		return accounts.Caller{AccountID: accountID, KeyID: "key_1", Scope: rights.ScopeFull,
			DomainIDs: []string{domainID}}, nil
	case "svc_elsewhere":
		return accounts.Caller{}, fault.Forbiddenf(fault.CodeAddressNotAllowed, "This API key cannot be used from %s", from)
	case "svc_away":
		return accounts.Caller{}, fault.DatabaseUnavailable(io.ErrUnexpectedEOF)
	default:
		return accounts.Caller{}, fault.Unauthenticated()
	}
}

// AuthenticateOperator knows one operator key, and one account.
func (fakeAuth) AuthenticateOperator(_ context.Context, bearer string, _ netip.Addr,
	wanted string) (accounts.Caller, error) {
	switch {
	case bearer != "svc_"+rightstest.OperatorKey:
		return accounts.Caller{}, fault.Unauthenticated()
	case wanted != "" && wanted != accountID:
		return accounts.Caller{}, fault.NoSuch("account", wanted)
	}
	return accounts.Caller{AccountID: wanted, Scope: rights.ScopeOperator,
		Operator: &accounts.Operator{KeyID: "opk_01kf0m4w7he6x8q2v5b3n9c1ta", Name: "provisioning"}}, nil
}

type fakeLimits struct {
	perSecond int
	unmetered bool
}

func (f *fakeLimits) Account(_ context.Context, id string) (accounts.Account, error) {
	return accounts.Account{ID: id, Unmetered: f.unmetered, Plan: accounts.Plan{RequestsPerSecond: f.perSecond}}, nil
}

// rate counts like the real limiter, without its clock.
type rate struct {
	mu   sync.Mutex
	used int
}

func (r *rate) Admit(_ context.Context, a accounts.Account, header http.Header) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	burst := 2 * a.Plan.RequestsPerSecond
	if !a.Unmetered {
		r.used++
	}
	header.Set("Ratelimit-Limit", strconv.Itoa(burst))
	header.Set("Ratelimit-Remaining", strconv.Itoa(max(burst-r.used, 0)))
	header.Set("Ratelimit-Reset", strconv.Itoa(min(r.used, burst)/a.Plan.RequestsPerSecond))
	if r.used > burst {
		return &fault.Error{Kind: fault.Limit, Code: fault.CodeRateLimit,
			RetryAfter: time.Second / time.Duration(a.Plan.RequestsPerSecond),
			Message:    fmt.Sprintf("More than %d requests per second; slow down", a.Plan.RequestsPerSecond)}
	}
	return nil
}

// fakeSending validates like the real service, and records its calls.
type fakeSending struct {
	mu   sync.Mutex
	sent []sending.Request
	fail error // returned instead, if set
	page page.Page[*ent.Email]
	list records.ListQuery
}

func (f *fakeSending) Send(_ context.Context, _ accounts.Caller, r sending.Request) (sending.Receipt, error) {
	if f.fail != nil {
		return sending.Receipt{}, f.fail
	}
	if err := r.Message.Validate().Err(); err != nil {
		return sending.Receipt{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r.Message.Attachments = slices.Clone(r.Message.Attachments)
	for i, a := range r.Message.Attachments { // they point into the body, which is released with the request
		r.Message.Attachments[i].Data = bytes.Clone(a.Data)
	}
	f.sent = append(f.sent, r)
	return sending.Receipt{ID: emailID, Status: "sent"}, nil
}

func (f *fakeSending) SendBatch(ctx context.Context, caller accounts.Caller,
	b sending.Batch) (sending.BatchReceipt, error) {
	if f.fail != nil {
		return sending.BatchReceipt{}, f.fail
	}
	results := make([]sending.BatchResult, len(b.Items))
	for i, item := range b.Items {
		if results[i].Err = item.Err; item.Err == nil {
			results[i].Receipt, results[i].Err = f.Send(ctx, caller, sending.Request{Message: item.Message})
		}
		if len(item.Message.CC) > 0 { // simulates a reached cap
			results[i] = sending.BatchResult{Err: &fault.Error{Kind: fault.Limit, Code: fault.CodePlanLimit,
				Message: "The plan Free allows 100 emails a day, and they are sent", UpgradeURL: "/settings/billing"}}
		}
		if len(item.Message.BCC) > 0 { // simulates a bug
			results[i] = sending.BatchResult{Err: errors.New("pq: secret detail")}
		}
	}
	return sending.BatchReceipt{Results: results}, nil
}

func (f *fakeSending) Check(_ context.Context, _ accounts.Caller, m sending.Message,
	_ sending.CheckOptions) (sending.CheckResult, error) {
	return sending.CheckResult{Preview: sending.Preview{From: "Ada <ada@example.com>", To: []string{"bob@example.net"},
		Subject: m.Subject, Text: m.Text}, Findings: []lint.Finding{{Code: "html_clipped", Severity: lint.Warning,
		Reason: "The HTML has 120 kB.", Fix: "Shorten the HTML.", Part: lint.HTML, Count: 1,
		Places: []lint.Place{{Line: 3, Element: "table"}}}}}, nil
}

func (f *fakeSending) Resend(_ context.Context, _ accounts.Caller, r sending.Resend) (sending.Receipt, error) {
	if f.fail != nil {
		return sending.Receipt{}, f.fail
	}
	if r.EmailID != emailID {
		return sending.Receipt{}, fault.NoSuch("email", r.EmailID)
	}
	return sending.Receipt{ID: "msg_01kf0m4w7he6x8q2v5b3n9c1tz", Status: "sent"}, nil
}

func (f *fakeSending) Get(_ context.Context, account, id string) (*ent.Email, error) {
	if f.fail != nil {
		return nil, f.fail
	}
	if account != accountID || id != emailID {
		return nil, fault.NoSuch("email", id)
	}
	return sampleEmail(), nil
}

func (f *fakeSending) Detail(ctx context.Context, account, id string) (records.EmailDetail, error) {
	e, err := f.Get(ctx, account, id)
	if err != nil {
		return records.EmailDetail{}, err
	}
	e.HTML, e.Text, e.Headers = new("<p>Grüße & <b>mehr</b></p>"), nil, []shape.Header{{Name: "X-Order", Value: "1742"}}
	recipients, err := f.RecipientsOf(ctx, account, id)
	return records.EmailDetail{Email: e, Recipients: recipients, Files: []*ent.Attachment{
		{Name: "logo.png", ContentType: "image/png", ContentID: "logo", Size: 8},
		{Name: "empty.txt", ContentType: "text/plain"}}}, err
}

func (f *fakeSending) List(_ context.Context, _ string, q records.ListQuery) (page.Page[*ent.Email], error) {
	f.list = q
	return f.page, f.fail
}

func (f *fakeSending) RecipientsOf(ctx context.Context, account, id string) ([]*ent.Recipient, error) {
	if _, err := f.Get(ctx, account, id); err != nil {
		return nil, err
	}
	started := sampleEmail().CreatedAt
	next, diagnostic, held := started.Add(time.Minute), "451 4.7.1 Greylisted", recipient.HeldByOperator
	return []*ent.Recipient{
		{ID: 7, Address: "bob@example.net", Kind: recipient.KindTo, State: recipient.StateDeferred, Attempts: 1,
			DueAt: &next, Code: new(451),
			EnhancedCode: new("4.7.1"), Diagnostic: &diagnostic, RemoteMta: new("mx1.example.net")},
		{ID: 8, Address: "carol@example.net", Kind: recipient.KindCc, State: recipient.StateQueued, DueAt: &next, HeldBy: &held},
		{ID: 9, Address: "dan@example.net", Kind: recipient.KindBcc, State: recipient.StateDelivered, Attempts: 1,
			Code: new(250), Diagnostic: new("250 OK"), SettledAt: &started},
	}, nil
}

func (f *fakeSending) AttemptsOf(ctx context.Context, account, id string,
	r page.Request) (page.Page[records.RecipientAttempt], error) {
	if _, err := f.Get(ctx, account, id); err != nil {
		return page.Page[records.RecipientAttempt]{}, err
	}
	started := sampleEmail().CreatedAt
	finished := started.Add(360 * time.Millisecond)
	deferred, unknown := attempt.OutcomeDeferred, attempt.OutcomeUnknown
	all := []*ent.Attempt{
		{RecipientID: 8, Number: 2, StartedAt: finished},
		{RecipientID: 7, Number: 1, StartedAt: started, FinishedAt: &finished, Outcome: &deferred, Phase: "rcpt",
			Code: new(451), EnhancedCode: new("4.7.1"), Reply: "451 4.7.1 Greylisted",
			Class: "greylist", RemoteHost: "mx1.example.net", RemoteAddr: "192.0.2.25", LocalAddr: "198.51.100.7",
			Way: "198.51.100.7", TLS: "TLS 1.3", TLSPolicy: "mta-sts"},
		{RecipientID: 8, Number: 1, StartedAt: started, FinishedAt: &finished, Outcome: &unknown},
	}
	addresses := map[int64]string{7: "bob@example.net", 8: "carol@example.net"}
	found := page.Page[*ent.Attempt]{Items: all[:min(r.Limit, len(all))], HasMore: r.Limit < len(all),
		NextCursor: "next"}
	return page.Map(found, func(a *ent.Attempt) records.RecipientAttempt {
		return records.RecipientAttempt{Attempt: a, Address: addresses[a.RecipientID]}
	}), nil
}

func sampleEmail() *ent.Email {
	created := time.Date(2026, 1, 15, 10, 30, 0, 123_456_789, time.FixedZone("CET", 3600))
	reason := "550 5.1.1 <bob@example.net>: Recipient address rejected & <gone>"
	return &ent.Email{ID: emailID, AccountID: accountID, From: "Ada <ada@example.com>", To: []string{"bob@example.net"},
		Subject: "Grüße", Status: email.StatusBounced,
		LastEvent: "email.bounced", BounceReason: &reason, Tags: []shape.Tag{{Name: "kind", Value: "receipt"}},
		CreatedAt: created, SentAt: &created, BouncedAt: &created}
}

type fakeDomains struct {
	changes   []domains.DomainChange
	started   int
	unproven  bool
	rotations int
	added     []domains.NewDomain
	fail      error
}

func (f *fakeDomains) Add(ctx context.Context, _ string, in domains.NewDomain) (*ent.Domain, error) {
	keep := in.Keep
	in.Keep = nil // functions cannot be compared
	f.added = append(f.added, in)
	if f.fail != nil {
		return nil, f.fail
	}
	if keep != nil {
		return sampleDomain(), keep(ctx, nil, sampleDomain())
	}
	return sampleDomain(), nil
}

func (f *fakeDomains) ListFiltered(context.Context, string, domains.Filter,
	page.Request) (page.Page[*ent.Domain], error) {
	return page.Page[*ent.Domain]{Items: []*ent.Domain{sampleDomain()}, HasMore: true, NextCursor: "next"}, f.fail
}

func (f *fakeDomains) Get(_ context.Context, _, id string) (*ent.Domain, error) {
	if id != domainID {
		return nil, fault.NoSuch("domain", id)
	}
	return sampleDomain(), f.fail
}

func (f *fakeDomains) Verify(_ context.Context, account, id string) (*ent.Domain, error) {
	return f.Get(context.Background(), account, id)
}

func (f *fakeDomains) RotateDKIM(ctx context.Context, account, id string,
	keep domains.StoreDomainResponse) (*ent.Domain, error) {
	f.rotations++
	d, err := f.Get(ctx, account, id)
	if err != nil || keep == nil {
		return d, err
	}
	return d, keep(ctx, nil, d)
}

func (f *fakeDomains) Records(*ent.Domain) []dnscheck.RecordCheck {
	priority := 10
	return []dnscheck.RecordCheck{
		{Purpose: dnscheck.DKIM, Type: "TXT", Name: "pr1._domainkey.example.com", Value: "v=DKIM1; k=rsa; p=MII",
			TTL: 3600, Required: true,
			Status: dnscheck.Missing, Error: "Not checked yet: publish this record, then verify the domain."},
		{Purpose: "inbound_mx", Type: "MX", Name: "example.com", Value: "in.mail.example.org", Priority: &priority,
			TTL:    3600,
			Status: dnscheck.Verified, Found: []string{"in.mail.example.org"}},
	}
}

func sampleDomain() *ent.Domain {
	created := time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
	return &ent.Domain{ID: domainID, Name: "example.com", Status: domain.StatusPending,
		TLSMode: domain.TLSModeOpportunistic, MtaSts: domain.MtaStsOff,
		CreatedAt: created, UpdatedAt: created, LastCheckedAt: &created, Edges: ent.DomainEdges{Keys: []*ent.DKIMKey{
			{Selector: "pr1", Algorithm: dkimkey.AlgorithmRsaSha256, State: dkimkey.StateActive, CreatedAt: created, ActivatedAt: &created}}}}
}

// fakeStore is an in-memory idempotency store with the contract of the real one.
type fakeStore struct {
	mu      sync.Mutex
	answers map[string]idempotency.Response // by key
	bodies  map[string]string
	busy    bool                  // the first request with any key is still running
	winner  *idempotency.Response // response to an identical request that was faster than a refused one
}

func (f *fakeStore) Begin(_ context.Context, _, _, key string,
	canonical []byte) (*idempotency.Claim, *idempotency.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy {
		return nil, nil, fault.Conflictf(fault.CodeIdempotencyInProgress,
			"The first request with this Idempotency-Key is still running; try again shortly")
	}
	if found, ok := f.answers[key]; ok {
		if f.bodies[key] != string(canonical) {
			return nil, nil, fault.Conflictf(fault.CodeIdempotencyConflict,
				"This Idempotency-Key was used for a different request in the last 24 hours")
		}
		found.Replayed = true
		return nil, &found, nil
	}
	if f.bodies == nil {
		f.bodies = map[string]string{}
	}
	f.bodies[key] = string(canonical)
	return &idempotency.Claim{}, nil, nil
}

// Keep is called in the transaction of a service.
func (f *fakeStore) Keep(_ context.Context, _ idempotency.Execer, _ *idempotency.Claim, a idempotency.Response) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keep(a)
	return nil
}

// Replay returns nothing: the fake never loses a key to another request.
func (f *fakeStore) Replay(context.Context, *idempotency.Claim) (*idempotency.Response, error) {
	return nil, errors.New("no other request had the key")
}

// Lookup is called after a refusal. It releases the keys that were claimed and have no response.
func (f *fakeStore) Lookup(context.Context, *idempotency.Claim) (*idempotency.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key := range f.bodies {
		if _, has := f.answers[key]; !has {
			delete(f.bodies, key)
		}
	}
	return f.winner, nil
}

// Record stores a response for every claimed key that has none.
func (f *fakeStore) Record(_ context.Context, _ *idempotency.Claim,
	a idempotency.Response) (idempotency.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keep(a)
	return a, nil
}

func (f *fakeStore) keep(a idempotency.Response) {
	for key := range f.bodies {
		if _, has := f.answers[key]; !has {
			f.answers[key] = a
		}
	}
}
