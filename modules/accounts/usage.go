package accounts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/fault"
)

// Use is one email that an account sends.
type Use struct{ AccountID string }

// caps are the hard limits of an account; nil is none.
type caps struct {
	plan           string // its name, for people
	daily, monthly *int
}

func (c caps) none() bool { return c.daily == nil && c.monthly == nil }

// count is how many emails an account has sent in the day and the month of the
// database clock, and when these end.
type count struct {
	day, month         int64
	dayEnds, monthEnds time.Duration // from now
	now                time.Time
}

func (c count) dayEndsAt() time.Time   { return c.now.Add(c.dayEnds).UTC().Round(time.Second) }
func (c count) monthEndsAt() time.Time { return c.now.Add(c.monthEnds).UTC().Round(time.Second) }

// room is how many more emails the caps leave, and refusal why it is no more.
func (c caps) room(used count) int64 {
	room := int64(1 << 62)
	if c.daily != nil {
		room = min(room, int64(*c.daily)-used.day)
	}
	if c.monthly != nil {
		room = min(room, int64(*c.monthly)-used.month)
	}
	return max(room, 0)
}

// refusal says which cap is reached. The month comes first: that the day ends
// helps nobody whose month is spent.
func (c caps) refusal(used count) *fault.Error {
	refused := &fault.Error{Kind: fault.Limit, Code: fault.CodePlanLimit, UpgradeURL: UpgradeURL}
	if c.monthly != nil && used.month >= int64(*c.monthly) {
		resets := used.monthEndsAt().Format(time.RFC3339)
		refused.Message = fmt.Sprintf("The plan %s allows %d emails a month, and they are sent; the next month begins at %s", c.plan, *c.monthly, resets)
		return refused.With("cap", "monthly").With("limit", *c.monthly).With("resets_at", resets)
	}
	resets := used.dayEndsAt().Format(time.RFC3339)
	refused.Message = fmt.Sprintf("The plan %s allows %d emails a day, and they are sent; the next day begins at %s", c.plan, *c.daily, resets)
	refused.RetryAfter = used.dayEnds
	return refused.With("cap", "daily").With("limit", *c.daily).With("resets_at", resets)
}

// Consume counts one email for each use and tells, index-aligned, which of them
// the caps do not leave room for: the first ones of an account are granted, the
// rest are refused with plan_limit and not counted. The day and the month are
// those of the database clock in UTC. The counters stay locked until tx ends, so
// that transactions at the same time never grant more together than there is.
// Accounts without a cap cost no statement.
func (s *Service) Consume(ctx context.Context, tx db.Execer, uses []Use) ([]error, error) {
	refused := make([]error, len(uses))
	capped, err := s.capped(ctx, tx, uses)
	if err != nil || len(capped) == 0 {
		return refused, err
	}
	used, err := s.addUses(ctx, tx, capped)
	if err != nil {
		return nil, fmt.Errorf("count emails: %w", err)
	}
	granted, excess := map[string]int64{}, []cappedUse(nil)
	for i := range capped {
		c := &capped[i]
		before := used[c.accountID]
		before.day, before.month = before.day-c.emails, before.month-c.emails
		granted[c.accountID] = min(c.emails, c.room(before))
		if over := c.emails - granted[c.accountID]; over > 0 {
			excess = append(excess, cappedUse{accountID: c.accountID, emails: over})
		}
		// What a refusal speaks of is how things stand once the granted ones are counted.
		before.day, before.month = before.day+granted[c.accountID], before.month+granted[c.accountID]
		c.count = before
	}
	if err := s.subtractUses(ctx, tx, excess); err != nil {
		return nil, fmt.Errorf("count emails: %w", err)
	}
	for i, u := range uses {
		at, found := slices.BinarySearchFunc(capped, u.AccountID, byAccount)
		if !found {
			continue
		}
		if granted[u.AccountID]--; granted[u.AccountID] < 0 {
			refused[i] = capped[at].refusal(capped[at].count)
		}
	}
	return refused, nil
}

// Refund takes uses back that Consume has granted in the same transaction.
func (s *Service) Refund(ctx context.Context, tx db.Execer, uses []Use) error {
	capped, err := s.capped(ctx, tx, uses)
	if err == nil {
		err = s.subtractUses(ctx, tx, capped)
	}
	if err != nil {
		return fmt.Errorf("refund emails: %w", err)
	}
	return nil
}

// CheckCaps refuses with plan_limit when an email sent now would be. It counts
// nothing.
func (s *Service) CheckCaps(ctx context.Context, accountID string) error {
	account, err := s.Account(ctx, accountID)
	if err != nil || account.caps().none() {
		return err
	}
	used, err := s.count(ctx, s.db.Hot, accountID)
	if err != nil {
		return fmt.Errorf("check caps: %w", err)
	}
	if account.caps().room(used) > 0 {
		return nil
	}
	return account.caps().refusal(used)
}

// Capped tells whether the account's emails are counted.
func (s *Service) Capped(ctx context.Context, accountID string) (bool, error) {
	account, err := s.Account(ctx, accountID)
	if err != nil {
		return false, err
	}
	return !account.caps().none(), nil
}

func (a Account) caps() caps {
	if a.Unmetered {
		return caps{}
	}
	return caps{plan: a.Plan.Name, daily: a.Plan.DailyEmails, monthly: a.Plan.MonthlyEmails}
}

// cappedUse is what one account with a cap wants.
type cappedUse struct {
	caps
	accountID string
	emails    int64
	count     count
}

func byAccount(c cappedUse, accountID string) int { return cmp.Compare(c.accountID, accountID) }

// capped sums the uses of each account that has a cap, in the order in which
// their counters are locked.
func (s *Service) capped(ctx context.Context, tx db.Execer, uses []Use) ([]cappedUse, error) {
	emails := map[string]int64{}
	for _, u := range uses {
		emails[u.AccountID]++
	}
	var list []cappedUse
	var unknown []string
	for accountID, n := range emails {
		known, found := s.accounts.GetIfPresent(accountID)
		switch {
		case !found:
			unknown = append(unknown, accountID)
		case !known.caps().none():
			list = append(list, cappedUse{caps: known.caps(), accountID: accountID, emails: n})
		}
	}
	if len(unknown) > 0 {
		loaded, err := loadCaps(ctx, tx, unknown)
		if err != nil {
			return nil, fmt.Errorf("caps: %w", err)
		}
		for accountID, c := range loaded {
			if !c.none() {
				list = append(list, cappedUse{caps: c, accountID: accountID, emails: emails[accountID]})
			}
		}
	}
	slices.SortFunc(list, func(a, b cappedUse) int { return cmp.Compare(a.accountID, b.accountID) })
	return list, nil
}

// loadCaps asks inside the transaction: a second connection, taken while holding
// one, could be waited for without end.
func loadCaps(ctx context.Context, tx db.Execer, accountIDs []string) (map[string]caps, error) {
	found := map[string]caps{}
	err := db.Each(ctx, tx, func(row db.Row) error {
		var accountID string
		var c caps
		if err := row.Scan(&accountID, &c.plan, &c.daily, &c.monthly); err != nil {
			return err
		}
		found[accountID] = c
		return nil
	}, `SELECT a.id, p.name, p.daily_emails, p.monthly_emails
		FROM accounts a JOIN plans p ON p.id = a.plan_id WHERE a.id = ANY ($1::text[]) AND NOT a.unmetered`, db.Array(accountIDs))
	if err != nil {
		return nil, err
	}
	return found, nil
}
