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

	"gopkg.in/yaml.v3"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/billing/metering"
	"github.com/postrider/postrider/modules/billing/provider"
	"github.com/postrider/postrider/modules/billing/watch"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
)

// EventsPath is where the payment provider posts its events.
const EventsPath = "/api/billing/stripe"

// Service is the operator's. It needs the key of the payment provider, and no webhook secret.
type Service struct {
	db      *db.DB
	plans   *plans.Service
	stripe  *provider.Client
	meter   *metering.Service
	baseURL string
}

// ErrNoKey says that there is nobody to ask.
var ErrNoKey = errors.New("billing is off: give POSTRIDER_STRIPE_KEY")

// New makes the service. Error: ErrNoKey.
func New(d *db.DB, p *plans.Service, key secret.String, url, baseURL string) (*Service, error) {
	if key.IsZero() {
		return nil, ErrNoKey
	}
	client := provider.New(key, url)
	return &Service{d, p, client, metering.New(d, client, nil), baseURL}, nil
}

// Prices is what plans are to cost, as the operator's file says it.
type Prices struct {
	Currency string           `yaml:"currency"`
	Plans    map[string]Price `yaml:"plans"`
}

// Price is of one plan. Amounts are in minor units, as cents.
type Price struct {
	Amount  int64  `yaml:"amount"`  // a month
	Overage string `yaml:"overage"` // of 1,000 emails beyond the plan's included ones; for plans with overage
}

var currencyForm = regexp.MustCompile(`^[a-z]{3}$`)

// ReadPrices reads a file. The error is Invalid and names every wrong field.
func ReadPrices(content []byte) (p Prices, err error) {
	decoder := yaml.NewDecoder(strings.NewReader(string(content)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&p); err != nil {
		return p, fault.Invalidf("The file of prices cannot be read: %s", err)
	}
	wrong := fault.Fields{}
	if !currencyForm.MatchString(p.Currency) {
		wrong.Add("currency", "must be an ISO 4217 code in lower case, as eur")
	}
	if len(p.Plans) == 0 {
		wrong.Add("plans", "is required")
	}
	for plan, price := range p.Plans {
		if price.Amount < 1 {
			wrong.Add("plans."+plan+".amount", "must be a number of minor units, as 2000 for 20.00")
		}
		if _, err := price.overage(); price.Overage != "" && err != nil {
			wrong.Add("plans."+plan+".overage", "must be a number of minor units for 1,000 emails, as 40 or 12.5")
		}
	}
	return p, wrong.Err()
}

// overage is of one email.
func (p Price) overage() (float64, error) {
	n, err := strconv.ParseFloat(p.Overage, 64)
	if err != nil || n < 0 || n > 1e9 {
		return 0, errors.New("no amount")
	}
	return n / 1000, nil
}

// Done is what Setup made.
type Done struct {
	Made   []string // nothing: everything was there
	Secret string   // of the webhook endpoint; empty: it was there
}

// wanted is what plans of a file are to be at the payment provider. Error: Invalid, which names plans
// that are not here.
func (p Prices) wanted(all []accounts.Plan) (out []provider.Wanted, err error) {
	wrong := fault.Fields{}
	for _, name := range slices.Sorted(maps.Keys(p.Plans)) {
		i := slices.IndexFunc(all, func(have accounts.Plan) bool { return have.ID == name })
		if i < 0 {
			wrong.Add("plans."+name, "is not a plan of this installation: postrider plan list shows them")
			continue
		}
		price := p.Plans[name]
		w := provider.Wanted{Plan: name, Name: all[i].Name, Currency: p.Currency, Amount: price.Amount, Metered: all[i].Overage}
		if w.Metered {
			if w.Overage, err = price.overage(); err != nil {
				wrong.Add("plans."+name+".overage", "is required: emails beyond the included ones are sent on this plan")
			}
			if all[i].IncludedEmails != nil {
				w.Included = int64(*all[i].IncludedEmails)
			}
		}
		out = append(out, w)
	}
	return out, wrong.Err()
}

// Setup makes or completes what billing needs at the payment provider. It is safe to repeat. Error:
// Invalid, which names plans that are not here.
func (s *Service) Setup(ctx context.Context, p Prices) (done Done, err error) {
	all, err := s.plans.Plans(ctx)
	if err != nil {
		return done, err
	}
	wanted, err := p.wanted(all)
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
		done.Made = append(done.Made, "settings of the portal")
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

// Finding is something that is missing or differs.
type Finding struct {
	About string // a plan, or a part
	What  string
	Do    string
}

// Check compares plans here with prices there, and looks for what the set-up makes.
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
	const setUp = "Run postrider billing setup."
	names := map[string]bool{}
	for _, p := range all {
		names[p.ID] = true
		prices, has := known.Plans[p.ID]
		switch {
		case p.ID == accounts.PlanFree || !p.SelfService && !has:
		case prices.Base == "":
			out = append(out, Finding{p.ID, "customers may choose it, and it has no price", setUp})
		case p.Overage && prices.Metered == "":
			out = append(out, Finding{p.ID, "emails beyond the included ones are sent, and there is no price for them", setUp})
		case p.Overage && p.IncludedEmails != nil && int64(*p.IncludedEmails) != prices.Included:
			out = append(out, Finding{p.ID, fmt.Sprintf("it includes %d emails here, and the price gives %d away", *p.IncludedEmails, prices.Included), setUp})
		case !p.Overage && prices.Metered != "":
			out = append(out, Finding{p.ID, "there is a price by usage, and the plan here has no overage", "Run postrider plan set " + p.ID + " --overage, or take the price away."})
		}
	}
	for _, plan := range slices.Sorted(maps.Keys(known.Plans)) {
		if !names[plan] {
			out = append(out, Finding{plan, "a product is of this plan, which is not here", "Run postrider plan set " + plan + ", or change the product's metadata " + provider.PlanKey + "."})
		}
	}
	meter, err := s.stripe.Meter(ctx)
	if err != nil {
		return nil, provider.Upstream(err)
	}
	if meter == "" {
		out = append(out, Finding{"meter", "there is no meter " + provider.MeterEvent, setUp})
	}
	if s.baseURL != "" {
		there, err := s.stripe.Endpoint(ctx, s.baseURL+EventsPath)
		if err != nil {
			return nil, provider.Upstream(err)
		}
		if !there {
			out = append(out, Finding{"webhook endpoint", "no events are posted to " + s.baseURL + EventsPath, setUp})
		}
	}
	return out, nil
}

// State reads what waits, fails, or wants to be looked at. Nobody is asked.
func (s *Service) State(ctx context.Context) (watch.State, error) {
	return watch.Read(ctx, s.db, s.meter)
}

const syncSQL = `UPDATE billing_customers SET sync_due_at = clock_timestamp(), failures = 0 WHERE id = $1 AND customer_id IS NOT NULL`

// Sync has the provider asked about an account by the service that runs. Error: NotFound if it has
// bought nothing.
func (s *Service) Sync(ctx context.Context, accountID string) error {
	n, err := db.Exec(ctx, s.db.SQL, syncSQL, accountID)
	if err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	if n == 0 {
		return fault.Missing("customer of the payment provider", accountID)
	}
	return nil
}
