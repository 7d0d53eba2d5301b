package accounts

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

func TestUpdateAccount(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made := addFree(t, s, "ada@example.com")
	if _, err := s.Account(t.Context(), made.ID); err != nil { // cached from here on
		t.Fatal(err)
	}
	update := func(c AccountChange) *ent.Account {
		t.Helper()
		row, err := s.UpdateAccount(t.Context(), made.ID, c)
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
	row := update(AccountChange{Name: new(" Ada's "), Plan: new(PlanScale), PaymentMethod: new(true),
		Suspended:         new(true),
		BodyRetentionDays: new(120), RecordRetentionDays: new(365)})
	if row.Name != "Ada's" || row.PlanID != PlanScale || row.PaymentMethodAt == nil || row.SuspendedAt == nil ||
		row.BodyRetentionDays != 120 || row.RecordRetentionDays != 365 || row.ProductionUnlocked {
		t.Errorf("after changing every setting, the account is %+v, want Ada's on Scale, suspended, "+
			"with a payment method and 120 and 365 days", row)
	}
	if now, err := s.Account(t.Context(), made.ID); err != nil || !now.Suspended || !now.PaymentMethod ||
		now.Plan.ID != PlanScale {
		t.Errorf("the change is not visible immediately: %+v, %v", now, err)
	}
	// The time of the first change does not change, and neither do fields that are not sent.
	again := update(AccountChange{PaymentMethod: new(true), Suspended: new(false), ProductionUnlocked: new(true)})
	if !again.PaymentMethodAt.Equal(*row.PaymentMethodAt) || again.SuspendedAt != nil || !again.ProductionUnlocked ||
		again.Name != "Ada's" {
		t.Errorf("after the second change the account is %+v, want the first payment time %s, unlocked, no longer suspended", again, row.PaymentMethodAt)
	}
	if last := update(AccountChange{PaymentMethod: new(false)}); last.PaymentMethodAt != nil ||
		last.PlanID != PlanScale {
		t.Errorf("after removing the payment method, the account is %+v, "+
			"want no payment method and still the plan Scale", last)
	}
	_, err := s.UpdateAccount(t.Context(), "acc_unknown", AccountChange{Suspended: new(true)})
	wantKind(t, err, fault.NotFound)
}

func TestSuspensionTakesEffectImmediately(t *testing.T) {
	t.Parallel()
	s := newService(t)
	owner := addAccount(t, s, "ada@example.com")
	_, token := addKey(t, s, NewKey{AccountID: owner.ID})
	for _, suspended := range []bool{false, true, false} {
		if _, err := s.UpdateAccount(t.Context(), owner.ID, AccountChange{Suspended: &suspended}); err != nil {
			t.Fatal(err)
		}
		if caller, err := s.Authenticate(t.Context(), token, netip.Addr{}); err != nil || caller.Suspended != suspended {
			t.Errorf("the key authenticates as %+v, %v, want suspended %t", caller, err, suspended)
		}
	}
}

func TestUpdateAccountReportsEveryWrongField(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made := addFree(t, s, "ada@example.com") // bodies 30 days, records 90 days
	for name, c := range map[string]struct {
		change AccountChange
		fields []string
	}{
		"all": {AccountChange{Name: new("\t"), Plan: new("gold"), BodyRetentionDays: new(0),
			RecordRetentionDays: new(3651)}, []string{"name", "plan", "body_retention_days", "record_retention_days"}},
		"record below stored body":  {AccountChange{RecordRetentionDays: new(29)}, []string{"record_retention_days"}},
		"body above stored record":  {AccountChange{BodyRetentionDays: new(91)}, []string{"body_retention_days"}},
		"record below new body":     {AccountChange{BodyRetentionDays: new(80), RecordRetentionDays: new(79)}, []string{"record_retention_days"}},
		"body of more than a year":  {AccountChange{BodyRetentionDays: new(366), RecordRetentionDays: new(400)}, []string{"body_retention_days"}},
		"name with a line break":    {AccountChange{Name: new("a\nb")}, []string{"name"}},
		"equal retention is enough": {AccountChange{BodyRetentionDays: new(90)}, nil},
	} {
		_, err := s.UpdateAccount(t.Context(), made.ID, c.change)
		if (err != nil) != (len(c.fields) > 0) || err != nil && len(fault.Classify(err).Fields) != len(c.fields) {
			t.Errorf("%s: UpdateAccount returned %v, want errors of the fields %v", name, err, c.fields)
		}
		for _, field := range c.fields {
			if fault.Classify(err).Fields[field] == "" {
				t.Errorf("%s: no error for the field %s in %v", name, field, err)
			}
		}
	}
}

func TestProfileReportsUsage(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made, paid := addFree(t, s, "ada@example.com"), addAccount(t, s, "paid@example.com")
	consume(t, s, uses(made.ID, 7))
	moveUsage(t, s, made.ID, dayNow, `'2020-01-01'`)
	consume(t, s, uses(made.ID, 2))
	found, err := s.Profile(t.Context(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	u := found.Usage
	if found.Email != "ada@example.com" || found.BodyRetentionDays != 30 || found.RecordRetentionDays != 90 ||
		u.Day != 2 || u.Month != 9 || *u.DailyCap != 100 || *u.MonthlyCap != 3000 {
		t.Errorf("the profile is %+v, want 30 and 90 days, 2 of 100 used today and 9 of 3000 this month", found)
	}
	if left := time.Until(u.DayEnds); left <= 0 || left > 24*time.Hour || u.DayEnds.Hour() != 0 ||
		u.MonthEnds.Day() != 1 || u.MonthEnds.Before(u.DayEnds) {
		t.Errorf("the day ends %s, the month %s", u.DayEnds, u.MonthEnds)
	}
	if u, err := s.Usage(t.Context(), paid.ID); err != nil || u.Day != 0 || u.Month != 0 || u.DailyCap != nil ||
		u.MonthlyCap != nil {
		t.Errorf("the usage of a paid account is %+v, %v, want nothing sent and no caps", u, err)
	}
	all, err := s.Accounts(t.Context())
	if err != nil || len(all) != 2 || all[0].Email != "ada@example.com" || all[1].Edges.Plan.Name != "Pro" {
		t.Errorf("the accounts are %v, %v, want ada@example.com and one on Pro", all, err)
	}
	_, err = s.Profile(t.Context(), "acc_unknown")
	wantKind(t, err, fault.NotFound)
}

func TestUnmeteredAccountsHaveNoCaps(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made, err := s.CreateAccount(t.Context(), NewAccount{Name: "Dev", Email: "dev@example.com", Unmetered: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the account from the transaction, then from the cache
		if granted, _ := consume(t, s, uses(made.ID, 200)); granted != 200 {
			t.Errorf("got %d of 200 granted, want all", granted)
		}
		if _, err := s.Account(t.Context(), made.ID); err != nil {
			t.Fatal(err)
		}
	}
	wantCounted(t, s, made.ID, 0, 0)
}

func TestOldCountersAreSwept(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	dbtest.Exec(t, d, `INSERT INTO usages (account_id, period, emails)
		SELECT 'acc_1', to_char((now() AT TIME ZONE 'UTC') - make_interval(months => m), f), 1 FROM generate_series(0, 20) m, (VALUES ('YYYY-MM'), ('YYYY-MM-DD')) AS v (f)`)
	s := start(t, d, Config{SweepEvery: 10 * time.Millisecond})
	expect.EventuallyWithin(t, 5*time.Second, "old counters are deleted",
		func() bool { return dbtest.Count(t, s.db, `SELECT count(*) FROM usages`) <= 28 })
	if err := s.sweepUsage(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Count(t, s.db, `SELECT count(*) FROM usages`); n != 28 {
		t.Errorf("got %d counters, want a day and a month for each of 14 months", n)
	}
}

// addDomain adds a domain to an account. Only the domain's id matters to these tests.
func addDomain(t testing.TB, s *Service, accountID string) string {
	t.Helper()
	domainID := id.New(id.Domain)
	dbtest.Exec(t, s.db, `INSERT INTO domains (id, account_id, name, ownership_token) VALUES ($1::text, $2, $1::text || '.example', 't')`, domainID, accountID)
	return domainID
}

// A key cannot create a key with wider limits or a later expiry than its own.
func TestKeyCannotExceedItsCreator(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ada, eve := addAccount(t, s, "ada@example.com"), addAccount(t, s, "eve@example.com")
	first, second, foreign := addDomain(t, s, ada.ID), addDomain(t, s, ada.ID), addDomain(t, s, eve.ID)
	soon, later := time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
	free, _ := addKey(t, s, NewKey{AccountID: ada.ID})
	bound, _ := addKey(t, s, NewKey{AccountID: ada.ID, DomainIDs: []string{first}, ExpiresAt: &soon})
	revoked, _ := addKey(t, s, NewKey{AccountID: ada.ID})
	if _, err := s.RevokeKey(t.Context(), ada.ID, revoked.ID); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in    NewKey
		wrong string
	}{
		"the operator, anything":                  {NewKey{}, ""},
		"an unbound key, anything":                {NewKey{MakerKeyID: free.ID, DomainIDs: []string{first, second}, ExpiresAt: &later}, ""},
		"an unbound key, without an expiry":       {NewKey{MakerKeyID: free.ID}, ""},
		"another account's domain":                {NewKey{MakerKeyID: free.ID, DomainIDs: []string{first, foreign}}, "domain_ids[1]"},
		"a bound key, with the same limits":       {NewKey{MakerKeyID: bound.ID, DomainIDs: []string{first}, ExpiresAt: &soon}, ""},
		"a bound key, for another domain":         {NewKey{MakerKeyID: bound.ID, DomainIDs: []string{second}, ExpiresAt: &soon}, "domain_ids[0]"},
		"a bound key, for all domains":            {NewKey{MakerKeyID: bound.ID, ExpiresAt: &soon}, "domain_ids"},
		"a key that expires, with a later expiry": {NewKey{MakerKeyID: bound.ID, DomainIDs: []string{first}, ExpiresAt: &later}, "expires_at"},
		"a key that expires, without an expiry":   {NewKey{MakerKeyID: bound.ID, DomainIDs: []string{first}}, "expires_at"},
		"an unknown domain, by the operator":      {NewKey{DomainIDs: []string{id.New(id.Domain)}}, "domain_ids[0]"},
	} {
		c.in.AccountID, c.in.Name = ada.ID, name
		_, _, err := s.CreateKey(t.Context(), c.in)
		switch {
		case c.wrong == "" && err != nil:
			t.Errorf("%s: CreateKey returned the error %v", name, err)
		case c.wrong != "" && (err == nil || fault.Classify(err).Fields[c.wrong] == "" || len(fault.Classify(err).Fields) != 1):
			t.Errorf("%s: CreateKey returned %v, want an error for the field %s", name, err, c.wrong)
		}
	}
	_, _, err := s.CreateKey(t.Context(), NewKey{AccountID: ada.ID, Name: "x", MakerKeyID: revoked.ID})
	wantKind(t, err, fault.Unauthorized)
}

func TestKeyAndResponseAreOneCommit(t *testing.T) {
	t.Parallel()
	s := newService(t)
	owner := addAccount(t, s, "ada@example.com")
	undone := errors.New("undone")
	var shown string
	_, _, err := s.CreateKey(t.Context(), NewKey{AccountID: owner.ID, Name: "x",
		Keep: func(_ context.Context, _ idempotency.Execer, made *ent.APIKey, token secret.String) error {
			shown = made.ID + token.Reveal()
			return undone
		}})
	if !errors.Is(err, undone) || shown == "" || s.db.Ent.APIKey.Query().CountX(t.Context()) != 0 {
		t.Errorf("after storing the response failed, CreateKey returned %v and left %s, want the error of Keep and "+
			"no key",
			err, fmt.Sprint(s.db.Ent.APIKey.Query().CountX(t.Context()), " keys"))
	}
}

// Concurrent changes can never leave a record with a shorter retention than its body.
func TestConcurrentRetentionChanges(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made := addFree(t, s, "ada@example.com")
	var all sync.WaitGroup
	var refused atomic.Int64
	for i := range 20 {
		c := AccountChange{BodyRetentionDays: new(90)}
		if i%2 == 0 {
			c = AccountChange{RecordRetentionDays: new(30)}
		}
		all.Go(func() {
			if _, err := s.UpdateAccount(t.Context(), made.ID, c); err != nil {
				refused.Add(1)
			}
		})
	}
	all.Wait()
	row, err := s.accountRow(t.Context(), made.ID)
	if err != nil || row.BodyRetentionDays > row.RecordRetentionDays || refused.Load() != 10 {
		t.Errorf("got %d days for bodies, %d for records, %d changes rejected and the error %v", row.BodyRetentionDays,
			row.RecordRetentionDays,
			refused.Load(), err)
	}
}
