package plans

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"strconv"

	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/plan"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Module provides *Service.
var Module = fx.Module("plans", fx.Provide(New))

// Service manages plans and reports usage. Safe for concurrent use.
type Service struct {
	db       *db.DB
	accounts *accounts.Service
}

// New returns a new Service.
func New(d *db.DB, a *accounts.Service) *Service { return &Service{d, a} }

// Plans lists the plans of the installation by rank.
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

// Plan returns a plan. Error: NotFound.
func (s *Service) Plan(ctx context.Context, planID string) (accounts.Plan, error) {
	row, err := s.db.Ent.Plan.Get(ctx, planID)
	switch {
	case ent.IsNotFound(err):
		return accounts.Plan{}, fault.NoSuch("plan", planID)
	case err != nil:
		return accounts.Plan{}, fmt.Errorf("plan: %w", err)
	}
	return accounts.PlanOf(row), nil
}

// PlanChange is the input of Set. A nil field leaves the plan's field unchanged, and a pointer to nil removes a
// cap. The tags declare each field once: json, doc, min and max for the REST body, help for the flag of the
// command line. TestChangeCoversEveryField compares it with accounts.Plan.
type PlanChange struct { //nolint:recvcheck // Fields returns pointers into it; the others only read
	Name              *string `json:"name" doc:"Display name of the plan." help:"Display name of the plan." placeholder:"NAME" max:"100"`
	RequestsPerSecond *int    `json:"requests_per_second" doc:"API requests per second." help:"API requests per second." placeholder:"NUMBER" min:"1"`
	DailyEmails       **int   `json:"daily_emails" doc:"Hard cap on emails per day; null if unlimited." help:"Hard cap on emails per day, or none." placeholder:"NUMBER" min:"1"`
	MonthlyEmails     **int   `json:"monthly_emails" doc:"Hard cap on emails per month; null if unlimited. Cannot be combined with overage." help:"Hard cap on emails per month, or none." placeholder:"NUMBER" min:"1"`
	DailySMS          **int   `json:"daily_sms" doc:"Hard cap on text messages per day through the installation's provider; null if unlimited." help:"Hard cap of text messages a day by the provider of the installation, or none." name:"daily-sms" placeholder:"NUMBER" min:"1"`
	StoredBytes       **int   `json:"stored_bytes" doc:"Hard cap on stored bytes; null if unlimited." help:"Hard cap on stored bytes, or none." placeholder:"NUMBER" min:"1" max:"1000000000000000"`
	DailyBytes        **int   `json:"daily_bytes" doc:"Hard cap on bytes stored per day (UTC); null if unlimited." help:"Hard cap on bytes stored per day (UTC), or none." placeholder:"NUMBER" min:"1" max:"1000000000000000"`
	IncludedEmails    **int   `json:"included_emails" doc:"Emails per month included in the price; null if not configured." help:"Emails a month that the price includes, or none." placeholder:"NUMBER" min:"0"`
	Overage           *bool   `json:"overage" doc:"Whether emails beyond the included volume are sent and metered." help:"Whether emails beyond the included volume are sent and metered." negatable:""`
	MaxDomains        *int    `json:"max_domains" doc:"Sending domains." help:"Sending domains." placeholder:"NUMBER" min:"1"`
	Sandboxed         *bool   `json:"sandboxed" doc:"Whether accounts can send only to themselves until they have a verified domain and a payment method." help:"Whether accounts can send only to themselves until they have a verified domain and a payment method." negatable:""`
	Rank              *int    `json:"rank" doc:"Changes to a plan with a higher rank take effect immediately, others at the end of the period." help:"Changes to a plan with a higher rank take effect immediately, others at the end of the period." placeholder:"NUMBER" min:"0"`
	SelfService       *bool   `json:"self_service" doc:"Whether customers may choose it." help:"Whether customers may choose it." negatable:""`
}

// ExampleChanges are example request bodies in the API description.
var ExampleChanges = map[string]any{
	"included": map[string]any{"included_emails": 50000, "overage": true},
	"cap":      map[string]any{"monthly_emails": 100000},
}

// IsEmpty reports whether the change has no fields.
func (c PlanChange) IsEmpty() bool { return c == PlanChange{} }

// maxNumber is the maximum of a number without a max tag.
const maxNumber = 1_000_000_000

var idForm = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`)

// CapField is a field of a change, as declared by its tags.
type CapField struct {
	Name     string // in JSON
	About    string
	Min, Max int
	To       any // points to the field: **string, **bool, **int, or ***int if null removes it
}

// Fields returns the fields of a change.
func (c *PlanChange) Fields() []CapField {
	v := reflect.ValueOf(c).Elem()
	fields := make([]CapField, v.NumField())
	for i := range fields {
		tag := v.Type().Field(i).Tag
		fields[i] = CapField{Name: tag.Get("json"), About: tag.Get("doc"), Min: numberIn(tag, "min", 0),
			Max: numberIn(tag, "max", maxNumber), To: v.Field(i).Addr().Interface()}
	}
	return fields
}

// numberIn parses a numeric tag. TestChangeCoversEveryField covers all of them.
func numberIn(tag reflect.StructTag, key string, otherwise int) int {
	text, found := tag.Lookup(key)
	if !found {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("plans: the tag %s of Change is %q", key, text))
	}
	return n
}

// Validate reports every invalid field that can be detected without the plan.
func (c PlanChange) Validate() fault.Fields {
	wrong := fault.Fields{}
	if c.Name != nil && accounts.CheckName(wrong, "name", *c.Name) == "" {
		wrong.Add("name", "is required")
	}
	for _, f := range c.Fields() {
		switch to := f.To.(type) {
		case **string:
			if *to != nil && len(**to) > f.Max {
				wrong.Add(f.Name, "is longer than %d bytes", f.Max)
			}
		case **int:
			if *to != nil && (**to < f.Min || **to > f.Max) {
				wrong.Add(f.Name, "must be between %d and %d", f.Min, f.Max)
			}
		case ***int:
			if *to != nil && **to != nil && (***to < f.Min || ***to > f.Max) {
				wrong.Add(f.Name, "must be between %d and %d, or null", f.Min, f.Max)
			}
		}
	}
	return wrong
}

// checkOverage rejects a hard monthly cap on a plan with overage: the cap would prevent the metered overage.
func checkOverage(wrong fault.Fields, p accounts.Plan) {
	if p.Overage && p.MonthlyEmails != nil {
		wrong.Add("overage", "cannot be combined with a cap of monthly_emails")
	}
}

// Set changes or creates a plan. A new plan requires a name, requests_per_second and max_domains. Services
// apply the change within five seconds. If an account gets a cap, its earlier emails count toward that cap.
func (s *Service) Set(ctx context.Context, planID string, c PlanChange) (changed accounts.Plan, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		_, changed, err = s.SetIn(ctx, tx, planID, c)
		return err
	})
	if err != nil {
		return accounts.Plan{}, fmt.Errorf("set plan: %w", err)
	}
	return changed, nil
}

// SetIn is Set within a transaction. It also returns the plan before the change, without an ID if the plan is
// new.
func (s *Service) SetIn(ctx context.Context, tx *ent.Tx, planID string,
	c PlanChange) (before, after accounts.Plan, err error) {
	wrong := c.Validate()
	current, err := tx.Plan.Query().Where(plan.ID(planID)).ForUpdate().Only(ctx)
	switch {
	case err == nil:
		before = accounts.PlanOf(current)
		after = before
	case !ent.IsNotFound(err):
		return before, after, err
	default:
		after.ID = planID
		if !idForm.MatchString(planID) {
			wrong.Add("plan", "must be a lower-case word of at most 40 letters, digits, - and _")
		}
		c.checkNew(wrong)
	}
	c.apply(&after)
	checkOverage(wrong, after)
	if err := wrong.Err(); err != nil {
		return before, after, err
	}
	args := setSQL.Args(db.Arg("id", after.ID), db.Arg("name", after.Name), db.Arg("rate", after.RequestsPerSecond),
		db.Arg("day", after.DailyEmails),
		db.Arg("month", after.MonthlyEmails), db.Arg("sms", after.DailySMS), db.Arg("stored", after.StoredBytes),
		db.Arg("bytes", after.DailyBytes), db.Arg("domains", after.MaxDomains), db.Arg("sandboxed", after.Sandboxed),
		db.Arg("rank", after.Rank), db.Arg("self", after.SelfService), db.Arg("included", after.IncludedEmails),
		db.Arg("overage", after.Overage))
	if _, err := tx.ExecContext(ctx, setSQL.Text, args...); err != nil {
		return before, after, err
	}
	// The recount finds accounts that have reached a new cap.
	_, err = tx.ExecContext(ctx, recountSQL, planID)
	return before, after, err
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

func (c PlanChange) checkNew(wrong fault.Fields) {
	for field, missing := range map[string]bool{"name": c.Name == nil,
		"requests_per_second": c.RequestsPerSecond == nil, "max_domains": c.MaxDomains == nil} {
		if missing {
			wrong.Add(field, "is required for a new plan")
		}
	}
}

// apply copies the fields that the change sets to the plan fields with the same names.
func (c PlanChange) apply(p *accounts.Plan) {
	from, to := reflect.ValueOf(c), reflect.ValueOf(p).Elem()
	for i := range from.NumField() {
		if given := from.Field(i); !given.IsNil() {
			to.FieldByName(from.Type().Field(i).Name).Set(given.Elem())
		}
	}
}
