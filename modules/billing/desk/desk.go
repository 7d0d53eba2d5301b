package desk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/billing/metering"
	"github.com/postrider/postrider/modules/billing/provider"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
)

// EventsPath is the path to which the payment provider posts its events.
const EventsPath = "/api/billing/stripe"

// Service implements the operator's billing commands. It requires the key of the payment provider, but no
// webhook secret.
type Service struct {
	db      *db.DB
	plans   *plans.Service
	stripe  *provider.Client
	meter   *metering.Service
	baseURL string
}

// ErrNoKey is returned if no provider key is configured.
var ErrNoKey = errors.New("billing is off: set POSTRIDER_STRIPE_KEY")

// New returns a new Service, or ErrNoKey without a key.
func New(d *db.DB, p *plans.Service, key secret.String, url, baseURL string) (*Service, error) {
	if key.IsZero() {
		return nil, ErrNoKey
	}
	client := provider.New(key, url)
	return &Service{d, p, client, metering.New(d, client, nil), baseURL}, nil
}

// Prices is the operator's price file.
type Prices struct {
	Currency string           `yaml:"currency"`
	Plans    map[string]Price `yaml:"plans"`
}

// Price is the price of one plan. Amounts are in minor units, such as cents.
type Price struct {
	Amount  int64  `yaml:"amount"`  // per month
	Overage string `yaml:"overage"` // per 1,000 emails beyond the included volume; for plans with overage
}

var currencyForm = regexp.MustCompile(`^[a-z]{3}$`)

// ReadPrices parses a price file. Its error is Invalid and contains every wrong field.
func ReadPrices(content []byte) (p Prices, err error) {
	decoder := yaml.NewDecoder(strings.NewReader(string(content)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&p); err != nil {
		return p, fault.Invalidf("Cannot read the price file: %s", err)
	}
	wrong := fault.Fields{}
	if !currencyForm.MatchString(p.Currency) {
		wrong.Add("currency", "must be an ISO 4217 code in lower case, such as eur")
	}
	if len(p.Plans) == 0 {
		wrong.Add("plans", "is required")
	}
	for plan, price := range p.Plans {
		if price.Amount < 1 {
			wrong.Add("plans."+plan+".amount", "must be a number of minor units, such as 2000 for 20.00")
		}
		if _, err := price.parseOverage(); price.Overage != "" && err != nil {
			wrong.Add("plans."+plan+".overage", "must be a number of minor units for 1,000 emails, such as 40 or 12.5")
		}
	}
	return p, wrong.Err()
}

// parseOverage returns the price of one email.
func (p Price) parseOverage() (float64, error) {
	n, err := strconv.ParseFloat(p.Overage, 64)
	if err != nil || n < 0 || n > 1e9 {
		return 0, errors.New("no amount")
	}
	return n / 1000, nil
}

// SetupResult lists what Setup created.
type SetupResult struct {
	Made   []string // empty if everything existed
	Secret string   // secret of the webhook endpoint; empty if the endpoint existed
}

// wantedPrices returns the prices that the plans of a file must have at the payment provider. Its error is
// Invalid and contains the unknown plans.
func (p Prices) wantedPrices(all []accounts.Plan) (out []provider.RequiredPrice, err error) {
	wrong := fault.Fields{}
	for _, name := range slices.Sorted(maps.Keys(p.Plans)) {
		i := slices.IndexFunc(all, func(have accounts.Plan) bool { return have.ID == name })
		if i < 0 {
			wrong.Add("plans."+name, "is not a plan of this installation: list them with postrider admin plan list")
			continue
		}
		price := p.Plans[name]
		w := provider.RequiredPrice{Plan: name, Name: all[i].Name, Currency: p.Currency, Amount: price.Amount,
			Metered: all[i].Overage}
		if w.Metered {
			if w.Overage, err = price.parseOverage(); err != nil {
				wrong.Add("plans."+name+".overage", "is required: this plan sends emails beyond the included volume")
			}
			if all[i].IncludedEmails != nil {
				w.Included = int64(*all[i].IncludedEmails)
			}
		}
		out = append(out, w)
	}
	return out, wrong.Err()
}

// Setup creates or completes the required objects at the payment provider. It can be repeated safely. Its
// error is Invalid and contains the unknown plans.
func (s *Service) Setup(ctx context.Context, p Prices) (done SetupResult, err error) {
	all, err := s.plans.Plans(ctx)
	if err != nil {
		return done, err
	}
	wanted, err := p.wantedPrices(all)
	if err != nil {
		return done, err
	}
	meter, made, err := s.stripe.EnsureMeter(ctx)
	if err != nil {
		return done, provider.Upstream(err)
	}
	if made {
		done.Made = append(done.Made, "meter "+meter)
	}
	known, err := s.stripe.Catalog(ctx)
	if err != nil {
		return done, provider.Upstream(err)
	}
	for _, w := range wanted {
		made, err := s.stripe.EnsurePlan(ctx, w, known.Plans[w.Plan], meter)
		for _, m := range made {
			done.Made = append(done.Made, w.Plan+": "+m)
		}
		if err != nil {
			return done, provider.Upstream(err)
		}
	}
	if made, err = s.stripe.EnsurePortal(ctx); err != nil {
		return done, provider.Upstream(err)
	} else if made {
		done.Made = append(done.Made, "portal configuration")
	}
	if s.baseURL == "" {
		return done, nil
	}
	if done.Secret, err = s.stripe.EnsureEndpoint(ctx, s.baseURL+EventsPath); err != nil {
		return done, provider.Upstream(err)
	}
	if done.Secret != "" {
		done.Made = append(done.Made, "webhook endpoint "+s.baseURL+EventsPath)
	}
	return done, nil
}

// Finding is a missing or different object.
type Finding struct {
	About string // a plan, or a component
	What  string
	Do    string
}

// Check compares the plans with the prices at the provider, and looks for every object that Setup creates.
func (s *Service) Check(ctx context.Context) ([]Finding, error) {
	all, err := s.plans.Plans(ctx)
	if err != nil {
		return nil, err
	}
	known, err := s.stripe.Catalog(ctx)
	if err != nil {
		return nil, provider.Upstream(err)
	}
	var out []Finding
	const setUp = "Run postrider admin billing setup."
	names := map[string]bool{}
	for _, p := range all {
		names[p.ID] = true
		prices, has := known.Plans[p.ID]
		switch {
		case p.ID == accounts.PlanFree || !p.SelfService && !has:
		case prices.Base == "":
			out = append(out, Finding{p.ID, "has no price, although customers may choose it", setUp})
		case p.Overage && prices.Metered == "":
			out = append(out, Finding{p.ID, "has no overage price, although it sends emails beyond the included volume",
				setUp})
		case p.Overage && p.IncludedEmails != nil && int64(*p.IncludedEmails) != prices.Included:
			out = append(out, Finding{p.ID, fmt.Sprintf("includes %d emails here, but the price includes %d",
				*p.IncludedEmails, prices.Included), setUp})
		case !p.Overage && prices.Metered != "":
			out = append(out, Finding{p.ID, "has a metered price, but the plan has no overage",
				"Run postrider admin plan set " + p.ID + " --overage, or archive the price."})
		}
	}
	for _, plan := range slices.Sorted(maps.Keys(known.Plans)) {
		if !names[plan] {
			out = append(out, Finding{plan, "has a product, but is not a plan of this installation",
				"Run postrider admin plan set " + plan + ", or change the product's metadata " + provider.PlanKey + "."})
		}
	}
	meter, err := s.stripe.Meter(ctx)
	if err != nil {
		return nil, provider.Upstream(err)
	}
	if meter == "" {
		out = append(out, Finding{"meter", "no meter " + provider.MeterEvent, setUp})
	}
	if s.baseURL != "" {
		there, err := s.stripe.Endpoint(ctx, s.baseURL+EventsPath)
		if err != nil {
			return nil, provider.Upstream(err)
		}
		if !there {
			out = append(out, Finding{"no events are posted to ", "no events are posted to " + s.baseURL + EventsPath,
				setUp})
		}
	}
	return out, nil
}

// State returns pending and failing work, and problems that need attention. It does not call the provider.
func (s *Service) State(ctx context.Context) (metering.BillingState, error) {
	return metering.ReadState(ctx, s.db, s.meter)
}

const syncSQL = `UPDATE billing_customers SET sync_due_at = clock_timestamp(), failures = 0 WHERE id = $1 AND customer_id IS NOT NULL`

// Sync schedules a sync of an account with the provider by the running service. It returns NotFound if the
// account has never bought anything.
func (s *Service) Sync(ctx context.Context, accountID string) error {
	n, err := db.Exec(ctx, s.db.SQL, syncSQL, accountID)
	if err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	if n == 0 {
		return fault.NoSuch("customer of the payment provider", accountID)
	}
	return nil
}
