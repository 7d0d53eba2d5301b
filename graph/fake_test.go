package graph

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/apikey"
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
	"github.com/postrider/postrider/modules/sending/queue"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

const (
	ada = "acc_ada" // the calling account
	bob = "acc_bob" // another account
)

var day = time.Date(2026, 1, 15, 10, 30, 0, 7_000_000, time.FixedZone("CET", 3600))

// fakeAuth knows one key per scope of ada, and one of bob.
type fakeAuth struct {
	err     error
	revoked *atomic.Bool // refuses every key once it is set; may be nil
}

func (f fakeAuth) Authenticate(_ context.Context, bearer string, _ netip.Addr) (accounts.Caller, error) {
	if f.err != nil {
		return accounts.Caller{}, f.err
	}
	if f.revoked != nil && f.revoked.Load() {
		return accounts.Caller{}, fault.Unauthenticated()
	}
	if name, is := strings.CutPrefix(bearer, "svc_test_"); is {
		c, err := fakeAuth{}.Authenticate(context.Background(), "svc_"+name, netip.Addr{})
		c.AccountID = id.TestTenantOf(c.AccountID)
		return c, err
	}
	if name, is := strings.CutPrefix(bearer, "svc_permission_"); is {
		return accounts.Caller{AccountID: ada, KeyID: "key_1", Scope: rights.ScopeFull,
			Permissions: []rights.Permission{rights.Permission(name)}}, nil
	}
	switch bearer {
	case "svc_full", "svc_read", "svc_sending":
		return accounts.Caller{AccountID: ada, KeyID: "key_1", Scope: rights.Scope(bearer[len("svc_"):])}, nil
	case "svc_developers", "svc_former":
		return accounts.Caller{AccountID: ada, KeyID: "key_1", Scope: rights.ScopeFull,
			Creator: &rights.Creator{Role: rights.RoleDeveloper, Former: bearer == "svc_former"}}, nil
	case "svc_limited":
		return accounts.Caller{AccountID: ada, KeyID: "key_1", Scope: rights.ScopeFull, DomainIDs: []string{"dom_001"}},
			nil
	case "svc_bob":
		return accounts.Caller{AccountID: bob, KeyID: "key_2", Scope: rights.ScopeFull}, nil
	}
	return accounts.Caller{}, fault.Unauthenticated()
}

// AuthenticateOperator knows one operator key, which acts for ada.
func (fakeAuth) AuthenticateOperator(_ context.Context, bearer string, _ netip.Addr,
	wanted string) (accounts.Caller, error) {
	if bearer != "svc_"+rightstest.OperatorKey {
		return accounts.Caller{}, fault.Unauthenticated()
	}
	caller := accounts.Caller{Scope: rights.ScopeOperator, Operator: &accounts.Operator{KeyID: "opk_1", Name: "provisioning"}}
	if wanted != "" {
		caller.AccountID = ada
	}
	return caller, nil
}

// calls counts the calls of services, and lets a test break one method.
type calls struct {
	mu    sync.Mutex
	count map[string]int
	hook  map[string]func() error
}

func (c *calls) call(method string) error {
	c.mu.Lock()
	if c.count == nil {
		c.count = map[string]int{}
	}
	c.count[method]++
	hook := c.hook[method]
	c.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook()
}

func (c *calls) counted() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

type fakeAccounts struct{ *calls }

func (f fakeAccounts) Account(_ context.Context, accountID string) (accounts.Account, error) {
	daily := 100
	return accounts.Account{ID: accountID, Name: "Ada's shop", Email: "ada@example.com",
		Plan: accounts.Plan{ID: "free", Name: "Free",
			RequestsPerSecond: 10, DailyEmails: &daily, MaxDomains: 1}}, f.call("Account")
}

func (f fakeAccounts) Usage(_ context.Context, accountID string) (accounts.Usage, error) {
	used := accounts.Usage{DayEnds: day.Add(time.Hour), MonthEnds: day.Add(2 * time.Hour)}
	if accountID == ada {
		daily, monthly := 100, 3000
		used.Day, used.Month, used.DailyCap, used.MonthlyCap = 12, 340, &daily, &monthly
	}
	return used, f.call("Usage")
}

func (f fakeAccounts) Keys(_ context.Context, accountID string, r page.Request) (page.Page[*ent.APIKey], error) {
	out, err := paged(someKeys(), func(k *ent.APIKey) (string, string) { return k.AccountID, k.ID }, "api_keys",
		accountID, r)
	return out, orElse(err, f.call("Keys"))
}

func (f fakeAccounts) FilteredKeys(ctx context.Context, accountID string, of accounts.KeyFilter,
	r page.Request) (page.Page[*ent.APIKey], error) {
	out, err := f.Keys(ctx, accountID, r)
	out.Items = slices.DeleteFunc(out.Items, func(k *ent.APIKey) bool {
		return of.Scope != "" && k.Scope != of.Scope || of.Revoked != nil && *of.Revoked != (k.RevokedAt != nil)
	})
	return out, err
}

func (f fakeAccounts) CountKeys(ctx context.Context, accountID string, of accounts.KeyFilter, most int) (int, error) {
	n, err := lengthOf(f.FilteredKeys(ctx, accountID, of, whole))
	return min(n, most), err
}

func (f fakeAccounts) Key(_ context.Context, accountID, keyID string) (*ent.APIKey, error) {
	for _, k := range someKeys() {
		if k.ID == keyID && k.AccountID == accountID {
			return k, f.call("Key")
		}
	}
	return nil, fault.NoSuch("API key", keyID)
}

func (f fakeAccounts) KeysByID(_ context.Context, accountID string, ids ...string) (out []*ent.APIKey, err error) {
	for _, k := range someKeys() {
		if slices.Contains(ids, k.ID) && k.AccountID == accountID {
			out = append(out, k)
		}
	}
	return out, f.call("KeysByID")
}

func (f fakeAccounts) NamesOf(_ context.Context, accountID string, ids ...string) (map[string]string, error) {
	names := map[string]string{}
	if accountID == ada && slices.Contains(ids, "usr_ada") {
		names["usr_ada"] = "ada@example.com"
	}
	return names, f.call("NamesOf")
}

// someKeys are two keys of ada, the newest without optional values, and one of bob.
func someKeys() []*ent.APIKey {
	at := day
	return []*ent.APIKey{
		{ID: "key_999", AccountID: bob, Name: "bob's", Prefix: "svc_b", Scope: apikey.ScopeFull, CreatedAt: day},
		{ID: "key_002", AccountID: ada, Name: "server", Prefix: "svc_Zk3v9QpA", Scope: apikey.ScopeFull, Hash: []byte("never shown"), CreatedAt: day},
		{ID: "key_001", AccountID: ada, Name: "shop", Prefix: "svc_mW5rT8yB", Scope: apikey.ScopeSending,
			Hash: []byte("never shown"), CreatedAt: day,
			DomainIds: []string{"dom_001"}, ExpiresAt: &at, LastUsedAt: &at, RevokedAt: &at},
	}
}

type fakeDomains struct {
	*calls
	rows []*ent.Domain
}

func (f fakeDomains) List(_ context.Context, accountID string, r page.Request) (page.Page[*ent.Domain], error) {
	out, err := paged(f.rows, func(d *ent.Domain) (string, string) { return *d.AccountID, d.ID }, "domains",
		accountID, r)
	return out, orElse(err, f.call("domains.List"))
}

func (f fakeDomains) ListFiltered(ctx context.Context, accountID string, of domains.Filter,
	r page.Request) (page.Page[*ent.Domain], error) {
	out, err := f.List(ctx, accountID, r)
	out.Items = slices.DeleteFunc(out.Items,
		func(d *ent.Domain) bool { return of.Status != "" && d.Status != of.Status })
	return out, err
}

func (f fakeDomains) Count(ctx context.Context, accountID string, of domains.Filter, most int) (int, error) {
	n, err := lengthOf(f.ListFiltered(ctx, accountID, of, whole))
	return min(n, most), err
}

func (f fakeDomains) Get(_ context.Context, accountID, domainID string) (*ent.Domain, error) {
	for _, d := range f.rows {
		if d.ID == domainID && *d.AccountID == accountID {
			return d, f.call("domains.Get")
		}
	}
	return nil, fault.NoSuch("domain", domainID)
}

func (f fakeDomains) GetMany(_ context.Context, accountID string, ids ...string) (out []*ent.Domain, err error) {
	for _, d := range f.rows {
		if slices.Contains(ids, d.ID) && *d.AccountID == accountID {
			out = append(out, d)
		}
	}
	return out, f.call("domains.Several")
}

func (f fakeDomains) SandboxDomain() string { return "sandbox.example.com" }

func (f fakeDomains) Records(d *ent.Domain) []dnscheck.RecordCheck {
	return []dnscheck.RecordCheck{{Purpose: "ownership", Type: "TXT", Name: "_service." + d.Name,
		Value: "postrider-verification=1", TTL: 3600,
		Required: true, Status: "missing", Found: []string{}, Error: "Publish this record."}}
}

func (f fakeDomains) Health(_ context.Context, accountID string, first int,
	ids ...string) (map[string][]*ent.DomainCheck, error) {
	out := map[string][]*ent.DomainCheck{}
	for _, d := range f.rows {
		if *d.AccountID == accountID && slices.Contains(ids, d.ID) && first == 30 {
			out[d.ID] = []*ent.DomainCheck{{DomainID: d.ID, CheckedAt: day, Status: "failed",
				Records: []shape.RecordState{{Purpose: "dkim", Selector: "pr1", Status: "missing",
					Error: "Publish it."}}}}
		}
	}
	return out, f.call("Health")
}

func (f fakeEmails) DomainCounts(_ context.Context, accountID string, days int,
	ids ...string) (map[string]records.Counts, error) {
	if accountID != ada || days != 30 || len(ids) == 0 {
		return nil, f.call("DomainCounts")
	}
	return map[string]records.Counts{ids[0]: {Sent: 5, Delivered: 3, Bounced: 1, Failed: 1}}, f.call("DomainCounts")
}

// fakeEmails behaves like records.Service and queue.Service: by account, newest first, without bodies in
// lists, and without an entry for an email that has none.
type fakeEmails struct {
	*calls
	rows []*ent.Email
}

var codec = page.NewCodec([]byte("0123456789abcdef"))

func (f fakeEmails) List(_ context.Context, accountID string, q records.ListQuery) (page.Page[*ent.Email], error) {
	out, err := paged(f.rows, func(e *ent.Email) (string, string) { return e.AccountID, e.ID }, "emails",
		accountID, q.Page)
	for i, row := range out.Items {
		short := *row
		short.HTML, short.Text = nil, nil
		out.Items[i] = &short
	}
	return out, orElse(err, f.call("List"))
}

func (f fakeEmails) ListScheduled(
	ctx context.Context, accountID string, _ []string, r page.Request,
) (page.Page[*ent.Email], error) {
	return f.List(ctx, accountID, records.ListQuery{Page: r})
}

func (f fakeEmails) Count(ctx context.Context, accountID string, _ records.Filter, most int) (int, error) {
	n, err := lengthOf(f.List(ctx, accountID, records.ListQuery{Page: whole}))
	return min(n, most), err
}

func (f fakeEmails) Get(_ context.Context, accountID, emailID string) (*ent.Email, error) {
	err := f.call("Get")
	for _, e := range f.rows {
		if e.ID == emailID && e.AccountID == accountID {
			return e, err
		}
	}
	return nil, orElse(err, fault.NoSuch("email", emailID))
}

func (f fakeEmails) GetMany(_ context.Context, accountID string, ids ...string) (out []*ent.Email, err error) {
	for _, e := range f.rows {
		if e.AccountID == accountID && slices.Contains(ids, e.ID) {
			out = append(out, e)
		}
	}
	return out, f.call("Several")
}

func (f fakeEmails) Bodies(_ context.Context, accountID string, ids ...string) (map[string]*ent.Email, error) {
	return forEach(f, "Bodies", accountID, ids,
		func(e *ent.Email) *ent.Email { return &ent.Email{ID: e.ID, HTML: e.HTML, Text: e.Text} })
}

func (f fakeEmails) Snippets(_ context.Context, accountID string, ids ...string) (map[string]string, error) {
	return forEach(f, "Snippets", accountID, ids, func(*ent.Email) string { return "Thank you" })
}

func (f fakeEmails) Recipients(_ context.Context, accountID string,
	ids ...string) (map[string][]*ent.Recipient, error) {
	return forEach(f, "Recipients", accountID, ids, func(e *ent.Email) []*ent.Recipient {
		held := recipient.HeldByOperator
		due, code, enhanced, said, mta := day.Add(time.Minute), 451, "4.7.1", "451 4.7.1 Try again later",
			"mx1.example.net"
		return []*ent.Recipient{
			{ID: 1, EmailID: e.ID, Address: "bob@example.net", Kind: recipient.KindTo, State: recipient.StateDeferred,
				Attempts: 1, DueAt: &due,
				Code: &code, EnhancedCode: &enhanced, Diagnostic: &said, RemoteMta: &mta},
			{ID: 2, EmailID: e.ID, Address: "eve@example.org", Kind: recipient.KindBcc, State: recipient.StateQueued, DueAt: &due, HeldBy: &held},
		}
	})
}

func (f fakeEmails) Attempts(_ context.Context, accountID string, ids ...string) (map[string][]*ent.Attempt, error) {
	return forEach(f, "Attempts", accountID, ids, func(e *ent.Email) []*ent.Attempt {
		ended, code, enhanced, outcome := day.Add(time.Second), 451, "4.7.1", attempt.OutcomeDeferred
		return []*ent.Attempt{
			{EmailID: e.ID, RecipientID: 1, Number: 1, StartedAt: day, FinishedAt: &ended, Outcome: &outcome,
				Phase: "rcpt", Code: &code,
				EnhancedCode: &enhanced, Reply: "451 4.7.1 Try again later", RemoteHost: "mx1.example.net",
				RemoteAddr: "192.0.2.1", TLS: "TLS 1.3",
				TLSPolicy: "dane", LocalAddr: "198.51.100.7", Way: "smarthost:relay.example.org:587",
				Class: "greylist"},
			{EmailID: e.ID, RecipientID: 2, Number: 1, StartedAt: day},
		}
	})
}

func (f fakeEmails) Attachments(_ context.Context, accountID string,
	ids ...string) (map[string][]*ent.Attachment, error) {
	return forEach(f, "Attachments", accountID, ids, func(e *ent.Email) []*ent.Attachment {
		return []*ent.Attachment{{EmailID: e.ID, Name: "receipt.pdf", ContentType: "application/pdf", Size: 5},
			{EmailID: e.ID, Name: "logo.png", ContentType: "image/png", ContentID: "logo", Size: 7}}
	})
}

func (f fakeEmails) Timeline(_ context.Context, accountID string, ids ...string) (map[string][]event.Fact, error) {
	return forEach(f, "Timeline", accountID, ids, func(e *ent.Email) []event.Fact {
		facts := []event.Fact{
			event.New(accountID, event.EmailSent, day, event.Email{EmailID: e.ID}),
			event.New(accountID, event.EmailDeliveryDelayed, day,
				event.Email{EmailID: e.ID, Recipient: "bob@example.net",
					Delay: &event.Delay{Attempt: 1, NextAttemptAt: event.NewTime(day.Add(time.Minute)),
						Diagnostic: "451 4.7.1 Try again later"}}),
			event.New(accountID, event.EmailBounced, day,
				event.Email{EmailID: e.ID, Recipient: "bob@example.net", Bounce: &event.Bounce{Type: "permanent",
					Code: 550, EnhancedCode: "5.1.1", Diagnostic: "550 5.1.1 No such user",
					RemoteMTA: "mx1.example.net",
					Attempt:   2}}),
			event.New(accountID, event.EmailFailed, day, event.Email{EmailID: e.ID, Recipient: "eve@example.org",
				Failure: &event.Failure{Reason: "example.org does not accept mail", Code: "null_mx"}}),
		}
		for i := range facts {
			facts[i].ID = fmt.Sprintf("evt_%d", i+1)
		}
		return facts
	})
}

func (f fakeEmails) QueueOf(_ context.Context, accountID string, of queue.Selection,
	r page.Request) (page.Page[queue.Queued], error) {
	if err := f.call("QueueOf"); err != nil {
		return page.Page[queue.Queued]{}, err
	}
	due := day.Add(time.Minute)
	rows := []queue.Queued{
		{ID: "7", RecipientID: 7, EmailID: "msg_001", AccountID: ada, Address: "bob@example.net",
			Destination: "example.net", State: queue.Deferred, Attempts: 2, NextAttempt: &due, QueuedAt: day,
			Diagnostic: "451 4.7.1 Try again later"},
		{ID: "8", RecipientID: 8, EmailID: "msg_002", AccountID: ada, Address: "eve@example.org",
			Destination: "example.org", State: queue.InQueue, Running: true, QueuedAt: day},
		{ID: "9", RecipientID: 9, EmailID: "msg_002", AccountID: ada, Address: "dan@example.org",
			Destination: "example.org", State: queue.OnHold, QueuedAt: day},
		{ID: "10", RecipientID: 10, EmailID: "msg_003", AccountID: bob, Address: "x@example.org",
			Destination: "example.org", State: queue.Parked, QueuedAt: day},
	}
	list := page.List{Name: "queue", AccountID: accountID}
	at, err := codec.Open(list, r)
	if at.Back {
		slices.Reverse(rows)
	}
	var out []queue.Queued
	for _, q := range rows {
		if id := fmt.Sprintf("%03d", q.RecipientID); q.AccountID == accountID &&
			(at.ID == "" || at.Back && id < at.ID || !at.Back && id > at.ID) &&
			(of.State == "" || of.State == q.State) &&
			(len(of.IDs) == 0 || slices.Contains(of.IDs, q.ID)) &&
			(of.Destination == "" || of.Destination == q.Destination) && (of.EmailID == "" || of.EmailID == q.EmailID) {
			out = append(out, q)
		}
	}
	if err != nil {
		return page.Page[queue.Queued]{}, err
	}
	return page.FromRows(codec, list, out[:min(at.Rows(), len(out))], at,
		func(q queue.Queued) string { return fmt.Sprintf("%03d", q.RecipientID) }), nil
}

func (f fakeEmails) CountOf(ctx context.Context, accountID string, of queue.Selection, most int) (int, error) {
	n, err := lengthOf(f.QueueOf(ctx, accountID, of, whole))
	return min(n, most), err
}

func (f fakeEmails) BacklogOf(_ context.Context, accountID string, of queue.Selection) ([]queue.Backlog, error) {
	if accountID != ada || of.Destination == "nothing.example" {
		return nil, f.call("BacklogOf")
	}
	return []queue.Backlog{{Destination: "example.org", Due: 1, Running: 2, Parked: 3, Deferred: 4, Held: 5,
		Oldest: 90 * time.Minute, Diagnostic: "451 4.7.1 Try again later"},
		{Destination: "example.net", Due: 1}}, f.call("BacklogOf")
}

// ChangeQueueOf matches the recipients 7, 8 and 9 of ada, of which 8 has an attempt in progress.
func (f fakeEmails) ChangeQueueOf(_ context.Context, accountID string, c queue.AccountChange) (queue.Result, error) {
	if err := c.Validate().Err(); err != nil {
		return queue.Result{}, err
	}
	var out queue.Result
	for _, id := range []int64{7, 8, 9} {
		if accountID == ada && (c.Selection.All || slices.Contains(c.Selection.IDs, strconv.FormatInt(id, 10))) {
			out.Matched++
		}
	}
	if !c.DryRun {
		out.Changed = max(out.Matched-1, 0)
	}
	return out, f.call("ChangeQueueOf " + string(c.Operation) + " " + c.Reason)
}

// forEach returns results for the emails of the account.
func forEach[T any](f fakeEmails, method, accountID string, ids []string, of func(*ent.Email) T) (map[string]T, error) {
	if err := f.call(method); err != nil {
		return nil, err
	}
	out := map[string]T{}
	for _, e := range f.rows {
		if e.AccountID == accountID && slices.Contains(ids, e.ID) && e.AttachmentCount > 0 {
			out[e.ID] = of(e)
		}
	}
	return out, nil
}

// paged returns a page of rows, newest first, as the services do.
func paged[T any](rows []T, key func(T) (accountID, id string), list, accountID string,
	r page.Request) (page.Page[T], error) {
	l := page.List{Name: list, AccountID: accountID}
	at, err := codec.Open(l, r)
	if err != nil {
		return page.Page[T]{}, err
	}
	rows = slices.Clone(rows)
	if at.Back {
		slices.Reverse(rows)
	}
	var out []T
	for _, row := range rows {
		if owner, id := key(row); owner == accountID && len(out) < at.Rows() &&
			(at.ID == "" || at.Back && id > at.ID || !at.Back && id < at.ID) {
			out = append(out, row)
		}
	}
	return page.FromRows(codec, l, out, at, func(row T) string { _, id := key(row); return id }), nil
}

// whole reads the whole list of a fake.
var whole = page.Request{Limit: page.MaxLimit}

// lengthOf counts a page, as a service counts its list.
func lengthOf[T any](found page.Page[T], err error) (int, error) { return len(found.Items), err }

func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// someEmails are n emails of ada and one of bob. The newest of ada has no optional values; the others have
// all of them.
func someEmails(n int) []*ent.Email {
	html, text, why := "<p>Thank you</p>", "Thank you", "550 5.1.1 No such user"
	later, someAutomation, someRun := day.Add(time.Hour), "aut_001", "run_001"
	rows := []*ent.Email{{ID: "msg_999", AccountID: bob, From: "bob@example.net", Status: email.StatusSent,
		CreatedAt: day, HTML: &html}}
	for i := n; i > 0; i-- {
		e := &ent.Email{ID: fmt.Sprintf("msg_%03d", i), AccountID: ada, From: "Ada <ada@example.com>",
			To:      []string{"bob@example.net"},
			Subject: "Your receipt", Status: email.StatusSent, LastEvent: "email.sent", MessageID: "1@example.com",
			CreatedAt: day}
		if i < n || n == 1 {
			e.Cc, e.Bcc, e.ReplyTo = []string{"cc@example.net"}, []string{"eve@example.org"},
				[]string{"help@example.com"}
			e.Tags, e.Headers = []shape.Tag{{Name: "kind", Value: "receipt"}},
				[]shape.Header{{Name: "X-Shop", Value: "1"}}
			e.HTML, e.Text, e.BounceReason, e.AttachmentCount = &html, &text, &why, 2
			e.AutomationID, e.RunID = &someAutomation, &someRun
			e.ExpiresAt = &later
			e.ScheduledAt, e.SentAt, e.DeliveredAt, e.BouncedAt, e.CancelledAt = &day, &day, &later, &later, &later
		}
		rows = append(rows, e)
	}
	return rows
}

func someDomains() []*ent.Domain {
	of := func(accountID, id, name string) *ent.Domain {
		return &ent.Domain{ID: id, AccountID: &accountID, Name: name, Status: domain.StatusTemporaryFailure,
			Seeded: true,
			Edges: ent.DomainEdges{Keys: []*ent.DKIMKey{{Selector: "pr1", Algorithm: dkimkey.AlgorithmRsaSha256,
				State: dkimkey.StateActive}}},
			TLSMode: domain.TLSModeEnforced, MtaSts: domain.MtaStsTesting, OpenTracking: true, CreatedAt: day, UpdatedAt: day, VerifiedAt: &day}
	}
	return []*ent.Domain{of(bob, "dom_999", "example.net"), of(ada, "dom_002", "example.org"),
		of(ada, "dom_001", "example.com")}
}
