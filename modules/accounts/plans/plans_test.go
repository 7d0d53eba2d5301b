package plans_test

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

type world struct {
	db       *db.DB
	accounts *accounts.Service
	plans    *plans.Service
}

func newWorld(t *testing.T) *world {
	t.Helper()
	d := dbtest.New(t)
	a, err := accounts.New(accounts.Params{DB: d, Cursors: page.NewCodec([]byte("0123456789abcdef")),
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return &world{d, a, plans.New(d, a)}
}

func (w *world) account(t *testing.T, email, plan string) string {
	t.Helper()
	made, err := w.accounts.CreateAccount(t.Context(), accounts.NewAccount{Name: "Acme", Email: email, Plan: plan})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

func TestPlansCanBeChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all, err := w.plans.Plans(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.ID
		if p.Overage != (p.ID == accounts.PlanPool || p.ID == accounts.PlanDedicated) || !p.SelfService {
			t.Errorf("plan %+v: want overage only for pool and dedicated, and self-service for every plan", p)
		}
	}
	if got := strings.Join(names, " "); got != "free pro scale pool dedicated" {
		t.Errorf("got the plans %s", got)
	}
	if f := all[0]; *f.DailyEmails != 100 || *f.MonthlyEmails != 3000 || f.MaxDomains != 1 || !f.Sandboxed {
		t.Errorf("the plan free is %+v", f)
	}
	if all[1].MaxDomains != 10 || all[2].MaxDomains != 1000 {
		t.Errorf("Pro and Scale allow %d and %d domains", all[1].MaxDomains, all[2].MaxDomains)
	}
	made, err := w.plans.Set(t.Context(), "startup", plans.PlanChange{Name: new("Startup"), RequestsPerSecond: new(20),
		MaxDomains: new(3), Rank: new(5), IncludedEmails: new(new(5000)), Overage: new(true)})
	if err != nil || made.ID != "startup" || *made.IncludedEmails != 5000 || !made.Overage || made.SelfService {
		t.Errorf("creating a plan returned %+v, %v", made, err)
	}
	changed, err := w.plans.Set(t.Context(), "startup",
		plans.PlanChange{IncludedEmails: new((*int)(nil)), Overage: new(false), MonthlyEmails: new(new(9000))})
	if err != nil || changed.IncludedEmails != nil || *changed.MonthlyEmails != 9000 || changed.Name != "Startup" ||
		changed.MaxDomains != 3 {
		t.Errorf("changing a plan returned %+v, %v", changed, err)
	}
	if found, err := w.plans.Plan(t.Context(), "startup"); err != nil || found.Rank != 5 {
		t.Errorf("Plan returned %+v, %v", found, err)
	}
	if _, err := w.plans.Plan(t.Context(), "none"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an unknown plan returned %v, want NotFound", err)
	}
}

func TestInvalidPlanReportsEveryField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		plan   string
		change plans.PlanChange
		fields string
	}{
		"new without what it needs": {"startup", plans.PlanChange{Rank: new(1)}, "max_domains name requests_per_second"},
		"a bad id":                  {"Start Up", plans.PlanChange{Name: new("x"), RequestsPerSecond: new(1), MaxDomains: new(1)}, "plan"},
		"numbers": {"pro", plans.PlanChange{RequestsPerSecond: new(0), DailyEmails: new(new(-1)),
			MonthlyEmails: new(new(0)), DailySMS: new(new(2_000_000_000)), MaxDomains: new(0), Rank: new(-1),
			IncludedEmails: new(new(-1))},
			"daily_emails daily_sms included_emails max_domains monthly_emails rank requests_per_second"},
		"a name":               {"pro", plans.PlanChange{Name: new("  ")}, "name"},
		"overage beyond a cap": {"free", plans.PlanChange{Overage: new(true)}, "overage"},
	} {
		_, err := w.plans.Set(t.Context(), c.plan, c.change)
		if got := strings.Join(slices.Sorted(maps.Keys(fault.Classify(err).Fields)), " "); got != c.fields {
			t.Errorf("%s: rejected the fields %q (%v), want %q", name, got, err, c.fields)
		}
	}
	if p, err := w.plans.Plan(t.Context(), "pro"); err != nil || p.RequestsPerSecond != 50 || p.Name != "Pro" {
		t.Errorf("a rejected change modified the plan: %+v, %v", p, err)
	}
}

const (
	factSQL = `INSERT INTO facts (id, account_id, type, subject_id, data) VALUES ($1, $2, 'email.sent', $3, '{}')`
	markSQL = `INSERT INTO usage_marks (id, hour, fact_id) VALUES (1, $1, $2)`
	hourSQL = `INSERT INTO usage_hours (account_id, hour, emails) VALUES ($1, $2, $3)`
)

func (w *world) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := w.db.SQL.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// sent inserts the facts of n emails sent at the given time.
func (w *world) sent(t *testing.T, accountID string, n int, at time.Time) {
	t.Helper()
	for range n {
		w.exec(t, factSQL, id.Since(id.Fact, at)[:14]+id.New(id.Fact)[14:], accountID, id.New(id.Email))
	}
}

func TestUsageIncludesOpenHours(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.account(t, "ada@example.com", "pro"), w.account(t, "bob@example.com", "pro")
	now, err := db.Now(t.Context(), w.db.SQL)
	if err != nil {
		t.Fatal(err)
	}
	hour := now.UTC().Truncate(time.Hour)
	open := hour.Add(-2 * time.Hour) // the first open hour
	w.exec(t, markSQL, open, id.Since(id.Fact, open))
	w.exec(t, hourSQL, ada, open.Add(-time.Hour), 50)
	w.exec(t, hourSQL, ada, open.Add(-30*24*time.Hour), 7)
	w.exec(t, hourSQL, bob, open.Add(-time.Hour), 1000)
	w.sent(t, ada, 4, open.Add(-10*time.Minute)) // already counted
	w.sent(t, ada, 3, open.Add(time.Minute))
	w.sent(t, ada, 2, hour)
	w.sent(t, bob, 9, hour)
	found, err := w.plans.Usage(t.Context(), ada, plans.UsagePeriod{Since: open.Add(-time.Hour)}, plans.ByHour)
	if err != nil {
		t.Fatal(err)
	}
	var emails []int64
	for i, p := range found {
		emails = append(emails, p.Emails)
		if want := open.Add(time.Duration(i-1) * time.Hour); !p.Start.Equal(want) {
			t.Errorf("the period %d begins at %s, want %s", i, p.Start, want)
		}
	}
	if len(emails) < 4 || !slices.Equal(emails[:4], []int64{50, 3, 0, 2}) {
		t.Errorf("the usage by hour is %v, want 50 3 0 2", emails)
	}
	for by, since := range map[plans.By]time.Time{plans.ByDay: open.Add(-31 * 24 * time.Hour),
		plans.ByMonth: open.AddDate(0, -2, 0)} {
		found, err := w.plans.Usage(t.Context(), ada, plans.UsagePeriod{Since: since}, by)
		var sum int64
		for _, p := range found {
			sum += p.Emails
		}
		if err != nil || sum != 62 {
			t.Errorf("the usage by %s sums up to %d (%v), want 62", by, sum, err)
		}
	}
	// The range ends before the first open hour.
	found, err = w.plans.Usage(t.Context(), ada, plans.UsagePeriod{Since: open.Add(-time.Hour), Until: open},
		plans.ByHour)
	if err != nil || len(found) != 1 || found[0].Emails != 50 {
		t.Errorf("the usage of one closed hour is %+v, %v", found, err)
	}
	report, err := w.plans.Report(t.Context(), ada, plans.UsagePeriod{}, plans.ByDay)
	if err != nil || report.Projected == nil || *report.Projected < report.Emails ||
		report.Periods[0].Start.Day() != 1 {
		t.Errorf("the report for the month is %+v, %v", report, err)
	}
}

func TestInvalidUsageRangeIsRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, now := w.account(t, "ada@example.com", "pro"), time.Now()
	for name, c := range map[string]struct {
		r     plans.UsagePeriod
		by    plans.By
		field string
	}{
		"backwards":                   {plans.UsagePeriod{Since: now.Add(-time.Hour), Until: now.Add(-2 * time.Hour)}, plans.ByHour, "since"},
		"in the future":               {plans.UsagePeriod{Since: now.AddDate(0, 0, 2)}, plans.ByDay, "since"},
		"before the first kept month": {plans.UsagePeriod{Since: now.AddDate(-2, 0, 0)}, plans.ByMonth, "since"},
		"no period":                   {plans.UsagePeriod{}, "week", "by"},
	} {
		_, err := w.plans.Usage(t.Context(), ada, c.r, c.by)
		if fault.Classify(err).Fields[c.field] == "" {
			t.Errorf("%s: got %v, want an error for %s", name, err, c.field)
		}
	}
	if found, err := w.plans.Usage(t.Context(), ada, plans.UsagePeriod{Since: now.AddDate(-1, 0, 0)},
		plans.ByHour); err != nil || len(found) < 8000 {
		t.Errorf("a year by hour returned %d periods, %v", len(found), err)
	}
}
