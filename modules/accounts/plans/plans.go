package plans

import (
	"context"
	"fmt"
	"regexp"

	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/plan"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Module gives *Service.
var Module = fx.Module("plans", fx.Provide(New))

// Service answers for plans and usage. Safe for concurrent use.
type Service struct {
	db       *db.DB
	accounts *accounts.Service
}

// New makes the service.
func New(d *db.DB, a *accounts.Service) *Service { return &Service{d, a} }

// Plans lists the plans of the installation by their rank.
func (s *Service) Plans(ctx context.Context) ([]accounts.Plan, error) {
	rows, err := s.db.Ent.Plan.Query().Order(ent.Asc(plan.FieldRank, plan.FieldID)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("plans: %w", err)
	}
	out := make([]accounts.Plan, len(rows))
	for i, row := range rows {
		out[i] = accounts.PlanOf(row)
	}
	return out, nil
}

// Plan gives one. Error: NotFound.
func (s *Service) Plan(ctx context.Context, planID string) (accounts.Plan, error) {
	row, err := s.db.Ent.Plan.Get(ctx, planID)
	switch {
	case ent.IsNotFound(err):
		return accounts.Plan{}, fault.Missing("plan", planID)
	case err != nil:
		return accounts.Plan{}, fmt.Errorf("plan: %w", err)
	}
	return accounts.PlanOf(row), nil
}

// Change is what Set does to a plan; nil leaves things as they are. A number that may be none is
// taken away by a nil behind it.
type Change struct {
	Name              *string
	RequestsPerSecond *int
	DailyEmails       **int
	MonthlyEmails     **int
	DailySMS          **int
	StoredBytes       **int
	DailyBytes        **int
	MaxDomains        *int
	Sandboxed         *bool
	Rank              *int
	SelfService       *bool
	IncludedEmails    **int
	Overage           *bool
}

// Empty tells whether nothing would change.
func (c Change) Empty() bool { return c == Change{} }

const (
	maxNumber = 1_000_000_000
	maxName   = 100
)

var idForm = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`)

// Validate reports every wrong field, as far as that can be told without the plan.
func (c Change) Validate() fault.Fields {
	wrong := fault.Fields{}
	if c.Name != nil {
		if accounts.CheckName(wrong, "name", *c.Name) == "" {
			wrong.Add("name", "is required")
		}
		if len(*c.Name) > maxName {
			wrong.Add("name", "is longer than %d octets", maxName)
		}
	}
	atLeast := func(field string, n *int, least int) {
		if n != nil && (*n < least || *n > maxNumber) {
			wrong.Add(field, "must be between %d and %d", least, maxNumber)
		}
	}
	atLeast("requests_per_second", c.RequestsPerSecond, 1)
	atLeast("max_domains", c.MaxDomains, 1)
	atLeast("rank", c.Rank, 0)
	for field, n := range map[string]**int{"daily_emails": c.DailyEmails, "monthly_emails": c.MonthlyEmails, "daily_sms": c.DailySMS} {
		if n != nil {
			atLeast(field, *n, 1)
		}
	}
	accounts.CheckBytes(wrong, "stored_bytes", c.StoredBytes)
	accounts.CheckBytes(wrong, "daily_bytes", c.DailyBytes)
	if c.IncludedEmails != nil {
		atLeast("included_emails", *c.IncludedEmails, 0)
	}
	return wrong
}

// checkOverage is pure: what is beyond the included emails is metered, so a number has to be said, and
// a hard cap below it would make it pointless.
func checkOverage(wrong fault.Fields, p *ent.Plan) {
	if p.Overage && p.MonthlyEmails != nil {
		wrong.Add("overage", "cannot be beside a cap of monthly_emails: nothing would ever be beyond it")
	}
}

// Set changes a plan, or makes one: then a name, requests_per_second and max_domains are needed.
// Services follow within five seconds. Accounts that come to a cap by it are counted from what they
// have sent.
func (s *Service) Set(ctx context.Context, planID string, c Change) (changed accounts.Plan, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		_, changed, err = s.SetIn(ctx, tx, planID, c)
		return err
	})
	if err != nil {
		return accounts.Plan{}, fmt.Errorf("set plan: %w", err)
	}
	return changed, nil
}

// SetIn is Set in a transaction. It gives the plan before, which has no id where there was none.
func (s *Service) SetIn(ctx context.Context, tx *ent.Tx, planID string, c Change) (before, after accounts.Plan, err error) {
	wrong := c.Validate()
	current, err := tx.Plan.Query().Where(plan.ID(planID)).ForUpdate().Only(ctx)
	switch {
	case err == nil:
		before = accounts.PlanOf(current)
	case !ent.IsNotFound(err):
		return before, after, err
	default:
		current = &ent.Plan{ID: planID}
		if !idForm.MatchString(planID) {
			wrong.Add("plan", "must be a lower-case word of at most 40 letters, digits, - and _")
		}
		c.checkNew(wrong)
	}
	c.apply(current)
	checkOverage(wrong, current)
	if err := wrong.Err(); err != nil {
		return before, after, err
	}
	args := setSQL.Args(db.Arg("id", current.ID), db.Arg("name", current.Name), db.Arg("rate", current.RequestsPerSecond), db.Arg("day", current.DailyEmails),
		db.Arg("month", current.MonthlyEmails), db.Arg("sms", current.DailySms), db.Arg("stored", current.StoredBytes), db.Arg("bytes", current.DailyBytes), db.Arg("domains", current.MaxDomains), db.Arg("sandboxed", current.Sandboxed),
		db.Arg("rank", current.Rank), db.Arg("self", current.SelfService), db.Arg("included", current.IncludedEmails), db.Arg("overage", current.Overage))
	if _, err := tx.ExecContext(ctx, setSQL.Text, args...); err != nil {
		return before, after, err
	}
	// Which of its accounts have come to a cap is found out by the recount.
	_, err = tx.ExecContext(ctx, recountSQL, planID)
	return before, accounts.PlanOf(current), err
}

var setSQL = db.Compile(`
INSERT INTO plans (id, name, requests_per_second, daily_emails, monthly_emails, daily_sms, stored_bytes, daily_bytes, max_domains, sandboxed, rank, self_service, included_emails, overage, changed_at)
VALUES (@id, @name, @rate, @day, @month, @sms, @stored, @bytes, @domains, @sandboxed, @rank, @self, @included, @overage, clock_timestamp())
ON CONFLICT (id) DO UPDATE SET name = @name, requests_per_second = @rate, daily_emails = @day, monthly_emails = @month, daily_sms = @sms,
	stored_bytes = @stored, daily_bytes = @bytes, max_domains = @domains,
	sandboxed = @sandboxed, rank = @rank, self_service = @self, included_emails = @included, overage = @overage,
	changed_at = clock_timestamp()`)

const recountSQL = `
INSERT INTO usage_recounts (account_id) SELECT id FROM accounts WHERE plan_id = $1 ORDER BY id
ON CONFLICT (account_id) DO UPDATE SET ready_at = NULL`

func (c Change) checkNew(wrong fault.Fields) {
	for field, missing := range map[string]bool{"name": c.Name == nil, "requests_per_second": c.RequestsPerSecond == nil, "max_domains": c.MaxDomains == nil} {
		if missing {
			wrong.Add(field, "is required for a plan that is not there yet")
		}
	}
}

func (c Change) apply(p *ent.Plan) {
	take(&p.Name, c.Name)
	take(&p.RequestsPerSecond, c.RequestsPerSecond)
	take(&p.DailyEmails, c.DailyEmails)
	take(&p.MonthlyEmails, c.MonthlyEmails)
	take(&p.DailySms, c.DailySMS)
	take(&p.StoredBytes, c.StoredBytes)
	take(&p.DailyBytes, c.DailyBytes)
	take(&p.MaxDomains, c.MaxDomains)
	take(&p.Sandboxed, c.Sandboxed)
	take(&p.Rank, c.Rank)
	take(&p.SelfService, c.SelfService)
	take(&p.IncludedEmails, c.IncludedEmails)
	take(&p.Overage, c.Overage)
}

func take[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}
