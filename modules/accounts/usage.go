package accounts

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// EmailUsage is one email that an account sends.
type EmailUsage struct {
	AccountID string
	// Due is the time of a scheduled email, which counts toward that day and month, in UTC. Zero means that
	// the email is sent now.
	Due time.Time
}

// dayName returns the day toward which the use counts, or "" for today by the database clock.
func (u EmailUsage) dayName() string {
	if u.Due.IsZero() {
		return ""
	}
	return u.Due.UTC().Format(dayLayout)
}

// planCaps are the hard limits of an account; nil means unlimited.
type planCaps struct {
	plan           string // the plan's display name
	daily, monthly *int
	cause          string // source of the monthly cap: capMonthly, capOwn, capPaymentDue
}

// The sources of the monthly cap, as values of details.cap.
const (
	capMonthly    = "monthly"     // the plan's cap
	capOwn        = "own"         // the account's own limit
	capPaymentDue = "payment_due" // a payment is overdue, so there is no overage
)

// withMonthlyCap returns the caps with the monthly cap reduced to limit, if limit is lower.
func (c planCaps) withMonthlyCap(limit *int, cause string) planCaps {
	if limit != nil && (c.monthly == nil || *limit < *c.monthly) {
		c.monthly, c.cause = limit, cause
	}
	return c
}

// capsOf returns the caps that a plan and the account's own limit impose.
func capsOf(p Plan, own *int, paymentDue bool) planCaps {
	c := planCaps{plan: p.Name, daily: p.DailyEmails}.withMonthlyCap(p.MonthlyEmails, capMonthly).
		withMonthlyCap(own, capOwn)
	if paymentDue {
		c = c.withMonthlyCap(p.IncludedEmails, capPaymentDue)
	}
	return c
}

func (c planCaps) isUnlimited() bool { return c.daily == nil && c.monthly == nil }

// periodCount is the number of emails counted in a day and in its month.
type periodCount struct {
	day, month int64
	date       string // date of the day
	today      bool   // the day is today
	now        time.Time
}

func (c periodCount) dayEndsAt() time.Time { return c.periodStart(dayLayout).AddDate(0, 0, 1) }

func (c periodCount) monthEndsAt() time.Time { return c.periodStart(monthLayout).AddDate(0, 1, 0) }

// periodStart returns the start of the day or of the month, depending on the layout.
func (c periodCount) periodStart(layout string) time.Time {
	at, err := time.Parse(layout, c.date[:len(layout)])
	if err != nil {
		panic("accounts: a counter has an invalid date: " + err.Error())
	}
	return at
}

// remaining returns how many more emails the caps allow. If none remain, refusal returns the reason.
func (c planCaps) remaining(used periodCount) int64 {
	room := int64(1 << 62)
	if c.daily != nil {
		room = min(room, int64(*c.daily)-used.day)
	}
	if c.monthly != nil {
		room = min(room, int64(*c.monthly)-used.month)
	}
	return max(room, 0)
}

// refusalError returns the error for the cap that is reached. It checks the month first: waiting for the next
// day does not help once the month is used up.
func (c planCaps) refusalError(used periodCount) *fault.Error {
	refused := &fault.Error{Kind: fault.Limit, Code: fault.CodePlanLimit, UpgradeURL: UpgradeURL}
	if c.monthly != nil && used.month >= int64(*c.monthly) {
		resets := used.monthEndsAt().Format(time.RFC3339)
		refused.Message = fmt.Sprintf("%s, all of which are used. The next month begins at %s", c.describeMonthlyCap(),
			resets)
		if monthOf(used.date) != used.now.UTC().Format(monthLayout) {
			refused.Message = fmt.Sprintf("%s, all of which are used in %s. Scheduled emails count in the month in which they are due", c.describeMonthlyCap(), monthOf(used.date))
		}
		return refused.With("cap", c.cause).With("limit", *c.monthly).With("resets_at", resets)
	}
	resets := used.dayEndsAt().Format(time.RFC3339)
	if used.today {
		refused.Message = fmt.Sprintf("The plan %s allows %d emails per day, all of which are used. The next day begins at %s", c.plan, *c.daily, resets)
		refused.RetryAfter = used.dayEndsAt().Sub(used.now)
	} else {
		refused.Message = fmt.Sprintf("The plan %s allows %d emails per day, all of which are used on %s. Scheduled emails count on the day on which they are due", c.plan, *c.daily, used.date)
	}
	return refused.With("cap", "daily").With("limit", *c.daily).With("resets_at", resets)
}

// describeMonthlyCap describes the monthly cap.
func (c planCaps) describeMonthlyCap() string {
	switch c.cause {
	case capOwn:
		return fmt.Sprintf("The account's own limit is %d emails per month", *c.monthly)
	case capPaymentDue:
		return fmt.Sprintf("A payment is overdue, so the plan %s allows only its %d included emails per month", c.plan,
			*c.monthly)
	default:
		return fmt.Sprintf("The plan %s allows %d emails per month", c.plan, *c.monthly)
	}
}

// Consume counts one email for each use and returns, index-aligned, a plan_limit error for each use that
// exceeds a cap. The first uses of an account are granted; refused ones are not counted. An email counts
// toward the day and month in which it is sent, by the database clock in UTC. A scheduled email counts toward
// those in which it is due. The counters stay locked until tx ends, so that concurrent transactions together
// never grant more than the cap. Accounts without a cap cost no statement.
func (s *Service) Consume(ctx context.Context, tx db.Execer, uses []EmailUsage) ([]error, error) {
	refused := make([]error, len(uses))
	wanted, limits, err := s.sumCappedUses(ctx, tx, uses)
	if err != nil || len(wanted) == 0 {
		return refused, err
	}
	used, err := s.addUses(ctx, tx, wanted)
	if err != nil {
		return nil, fmt.Errorf("count emails: %w", err)
	}
	for _, w := range wanted { // back to the counts before this call
		used.addEmails(w.accountID, cmp.Or(w.day, used.today), -w.emails)
	}
	excess := map[cappedUse]int64{}
	for i, u := range uses {
		c, capped := limits[u.AccountID]
		if !capped {
			continue
		}
		day := cmp.Or(u.dayName(), used.today)
		if at := used.ofDay(u.AccountID, day); c.remaining(at) > 0 {
			used.addEmails(u.AccountID, day, 1)
		} else {
			refused[i] = c.refusalError(at)
			excess[cappedUse{accountID: u.AccountID, day: day}]++
		}
	}
	if err := s.subtractUses(ctx, tx, listUses(excess)); err != nil {
		return nil, fmt.Errorf("count emails: %w", err)
	}
	return refused, nil
}

// Refund subtracts uses that Consume granted, in the same transaction or for scheduled emails that will not
// be sent.
func (s *Service) Refund(ctx context.Context, tx db.Execer, uses []EmailUsage) error {
	capped, _, err := s.sumCappedUses(ctx, tx, uses)
	if err == nil {
		err = s.subtractUses(ctx, tx, capped)
	}
	if err != nil {
		return fmt.Errorf("refund emails: %w", err)
	}
	return nil
}

// Move counts a scheduled email toward the day and month of another time. Error: Limit, as for Consume; the
// caller must then roll back tx.
func (s *Service) Move(ctx context.Context, tx db.Execer, accountID string, from, to time.Time) error {
	before, after := EmailUsage{AccountID: accountID, Due: from}, EmailUsage{AccountID: accountID, Due: to}
	if before.dayName() == after.dayName() {
		return nil
	}
	capped, _, err := s.sumCappedUses(ctx, tx, []EmailUsage{before})
	if err != nil || len(capped) == 0 {
		return err
	}
	if err := lockCounters(ctx, tx, accountID, before.dayName(), monthOf(before.dayName()), after.dayName(),
		monthOf(after.dayName())); err != nil {
		return fmt.Errorf("move the count of an email: %w", err)
	}
	if err := s.subtractUses(ctx, tx, capped); err != nil {
		return fmt.Errorf("move the count of an email: %w", err)
	}
	refused, err := s.Consume(ctx, tx, []EmailUsage{after})
	if err != nil {
		return err
	}
	return refused[0]
}

// IsCapped reports whether the account's emails are counted when they are accepted.
func (s *Service) IsCapped(ctx context.Context, accountID string) (bool, error) {
	account, err := s.Account(ctx, accountID)
	if err != nil {
		return false, err
	}
	return !account.caps().isUnlimited(), nil
}

func (a Account) caps() planCaps {
	if a.Unmetered {
		return planCaps{}
	}
	return capsOf(a.Plan, a.MonthlyLimit, a.PaymentDue)
}

// cappedUse is the number of emails that an account with a cap requests for one day.
type cappedUse struct {
	accountID string
	day       string // "" means today
	emails    int64
}

// sumCappedUses sums the uses of each account that has a cap by day, and returns them with the caps of these
// accounts.
func (s *Service) sumCappedUses(ctx context.Context, tx db.Execer,
	uses []EmailUsage) ([]cappedUse, map[string]planCaps, error) {
	limits := map[string]planCaps{}
	var unknown []string
	for _, u := range uses {
		if _, seen := limits[u.AccountID]; seen {
			continue
		}
		known, found := s.accounts.GetIfPresent(u.AccountID)
		switch {
		case found:
			limits[u.AccountID] = known.caps()
		case id.IsTestTenant(u.AccountID): // the same on every plan
			limits[u.AccountID] = Account{}.asTestTenant().caps()
		default:
			limits[u.AccountID] = planCaps{}
			unknown = append(unknown, u.AccountID)
		}
	}
	if len(unknown) > 0 {
		loaded, err := loadCaps(ctx, tx, unknown)
		if err != nil {
			return nil, nil, fmt.Errorf("caps: %w", err)
		}
		maps.Copy(limits, loaded)
	}
	maps.DeleteFunc(limits, func(_ string, c planCaps) bool { return c.isUnlimited() })
	emails := map[cappedUse]int64{}
	for _, u := range uses {
		if _, capped := limits[u.AccountID]; capped {
			emails[cappedUse{accountID: u.AccountID, day: u.dayName()}]++
		}
	}
	return listUses(emails), limits, nil
}

func listUses(emails map[cappedUse]int64) []cappedUse {
	list := make([]cappedUse, 0, len(emails))
	for u, n := range emails {
		u.emails = n
		list = append(list, u)
	}
	return list
}

// loadCaps queries inside the transaction: waiting for a second connection while holding one could deadlock.
func loadCaps(ctx context.Context, tx db.Execer, accountIDs []string) (map[string]planCaps, error) {
	found := map[string]planCaps{}
	err := db.Each(ctx, tx, func(row db.Row) error {
		var accountID string
		var p Plan
		var own *int
		var paymentDue bool
		if err := row.Scan(&accountID, &p.Name, &p.DailyEmails, &p.MonthlyEmails, &p.IncludedEmails, &own,
			&paymentDue); err != nil {
			return err
		}
		found[accountID] = capsOf(p, own, paymentDue)
		return nil
	}, `SELECT a.id, p.name, p.daily_emails, p.monthly_emails, p.included_emails, a.monthly_limit, a.payment_due_at IS NOT NULL
		FROM accounts a JOIN plans p ON p.id = a.plan_id WHERE a.id = ANY ($1::text[]) AND NOT a.unmetered`, db.Array(accountIDs))
	if err != nil {
		return nil, err
	}
	return found, nil
}
