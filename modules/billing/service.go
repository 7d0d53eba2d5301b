package billing

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/billingsubscription"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/billing/metering"
	"github.com/postrider/postrider/modules/billing/provider"
	"github.com/postrider/postrider/modules/notices"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Params contains the parameters of New.
type Params struct {
	fx.In

	Config   Config
	DB       *db.DB
	Accounts *accounts.Service
	Plans    *plans.Service
	Cursors  *page.Codec
	Logger   *slog.Logger
	Bus      Publisher             `optional:"true"` // nil disables events
	Notices  *notices.Service      `optional:"true"` // nil disables mail
	Workers  *worker.Metrics       `optional:"true"`
	Registry prometheus.Registerer `optional:"true"`
}

// Service manages what accounts pay. It is safe for concurrent use.
type Service struct {
	*events
	*offers

	config    *Config
	db        *db.DB
	accounts  *accounts.Service
	cursors   *page.Codec
	stripe    *provider.Client // nil if billing is disabled
	customers *customers
	reminders []worker.Task // mail and events about plans and usage
	tasks     *worker.Tasks
}

// New returns a new Service. While billing is disabled, it has no client and makes no connections.
func New(p Params) (*Service, error) {
	config := p.Config.withDefaults()
	s := &Service{config: &config, db: p.DB, accounts: p.Accounts, cursors: p.Cursors,
		tasks: worker.NewTasks(p.Logger, p.Workers)}
	var prices *catalog
	var meter *metering.Service
	if config.isEnabled() {
		s.stripe = provider.New(config.Key, config.URL)
		prices, meter = newCatalog(s.stripe), metering.New(p.DB, s.stripe, p.Logger)
	}
	s.events = &events{config: s.config, db: p.DB, stripe: s.stripe, meter: meter, metrics: newMetricSet(),
		log: p.Logger}
	s.offers = &offers{config: s.config, accounts: p.Accounts, plans: p.Plans, catalog: prices, log: p.Logger}
	s.customers = &customers{config: s.config, db: p.DB, accounts: p.Accounts, plans: p.Plans, stripe: s.stripe,
		catalog: prices, log: p.Logger}
	if p.Bus != nil {
		usage := &usageEvents{p.DB, p.Bus}
		s.reminders = append(s.reminders, worker.Every("usage events", notifyEvery, usage.Run))
	}
	if p.Notices != nil && p.Notices.CanSend() {
		notifier := NewNotifier(p.DB, p.Notices, config.BaseURL)
		s.reminders = append(s.reminders, worker.Every("mails about plans and payments", notifyEvery, notifier.Run))
	}
	return s, s.events.metrics.registerMetrics(p.Registry)
}

// Enabled reports whether billing is enabled.
func (s *Service) Enabled() bool { return s.config.isEnabled() }

// errDisabled is the error of an operation that requires billing.
func errDisabled() error {
	return fault.Conflictf(fault.CodeBillingDisabled,
		"This installation does not accept payments. Its operator assigns plans.")
}

// Modes of the payment provider.
const (
	Test = "test"
	Live = "live"
)

// StatusNone is the status of an account without a subscription. The other statuses are Stripe's.
const StatusNone = "none"

// Card describes a payment method.
type Card struct {
	Brand string // or its type, if it is not a card
	Last4 string
	Month int // month of expiry; 0 if it does not expire
	Year  int
}

// Overview describes the plan, usage and payment state of an account.
type Overview struct {
	Enabled       bool
	Mode          string // Test or Live; empty while billing is disabled
	Plan          accounts.Plan
	Status        string // StatusNone, or that of the subscription
	PaymentMethod *Card
	BillingEmail  string
	PeriodStart   time.Time // start of the subscription period, or of the current month in UTC
	PeriodEnd     time.Time
	CancelAt      *time.Time
	PendingPlan   string // takes effect at PendingAt; empty if none
	PendingAt     *time.Time
	Emails        int64 // in the current month
	Over          int64 // beyond the included volume
	MonthlyCap    *int
	MonthlyLimit  *int // the account's own limit
	Unlocked      bool // production sending
	Verified      bool // has a verified domain
	OnFile        bool // has a payment method
	PaymentDue    bool
	Problems      []string // required actions of the account's members
}

const verifiedSQL = `SELECT EXISTS (SELECT FROM domains WHERE account_id = $1 AND status = 'verified')`

// Overview returns the plan, usage and payment state of an account.
func (s *Service) Overview(ctx context.Context, accountID string) (Overview, error) {
	p, err := s.accounts.Profile(ctx, accountID)
	if err != nil {
		return Overview{}, err
	}
	o := Overview{Enabled: s.config.isEnabled(), Plan: p.Plan, Status: StatusNone, BillingEmail: p.Email,
		Emails: p.Usage.Month, MonthlyCap: p.Usage.MonthlyCap,
		MonthlyLimit: p.MonthlyLimit, OnFile: p.PaymentMethod, PaymentDue: p.PaymentDue, PeriodEnd: p.Usage.MonthEnds,
		PeriodStart: p.Usage.MonthEnds.AddDate(0, -1, 0)}
	if o.Plan.IncludedEmails != nil {
		o.Over = max(o.Emails-int64(*o.Plan.IncludedEmails), 0)
	}
	if o.Verified, err = db.One(ctx, s.db.SQL, db.Value[bool], verifiedSQL, accountID); err != nil {
		return Overview{}, fmt.Errorf("billing: %w", err)
	}
	o.Unlocked = p.IsUnlocked(o.Verified)
	if o.Enabled {
		if err := s.addSubscription(ctx, accountID, &o); err != nil {
			return Overview{}, fmt.Errorf("billing: %w", err)
		}
	}
	return o, nil
}

// addSubscription adds the provider's state.
func (s *Service) addSubscription(ctx context.Context, accountID string, o *Overview) error {
	o.Mode = s.mode()
	c, err := s.db.Ent.BillingCustomer.Get(ctx, accountID)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if c.BillingEmail != "" {
		o.BillingEmail = c.BillingEmail
	}
	if c.PaymentMethod {
		o.PaymentMethod = &Card{Brand: c.CardBrand, Last4: c.CardLast4, Month: c.CardExpMonth, Year: c.CardExpYear}
	}
	subs, err := s.db.Ent.BillingSubscription.Query().Where(billingsubscription.AccountID(accountID)).All(ctx)
	if err != nil {
		return err
	}
	if b := bestSubscription(subs); b != nil {
		o.Status = b.Status
		if b.PeriodStart != nil && b.PeriodEnd != nil {
			o.PeriodStart, o.PeriodEnd = *b.PeriodStart, *b.PeriodEnd
		}
		o.CancelAt, o.PendingPlan, o.PendingAt = b.CancelAt, b.PendingPlan, b.PendingAt
	}
	if o.PaymentDue {
		o.Problems = append(o.Problems,
			"A payment is overdue: pay it or add another card. Until then, only the included emails are sent, and "+
				"the plan will end.")
	}
	return nil
}

// SettingsChange is the input of Update. A nil field leaves its value unchanged.
type SettingsChange struct {
	BillingEmail *string
	MonthlyLimit **int // the account's own limit of emails per month; a pointer to nil removes it
}

// Validate reports every wrong field.
func (c SettingsChange) Validate() fault.Fields {
	wrong := accounts.AccountChange{MonthlyLimit: c.MonthlyLimit}.Validate()
	if c.BillingEmail != nil {
		accounts.CheckEmail(wrong, "billing_email", *c.BillingEmail)
	}
	return wrong
}

// Offer is a plan as shown to a customer.
type Offer struct {
	accounts.Plan

	Price        *Price // nil if the plan has none, or if it is currently unknown
	OveragePrice *Price // per OverageUnit emails beyond the included volume
	Current      bool
}

// OverageUnit is the number of emails that an overage price covers.
const OverageUnit = 1000

// Price is an amount in the minor units of a currency.
type Price struct {
	Amount   int64
	Currency string // ISO 4217 in lower case
	Interval string // month or year; empty if metered
}

// Watch returns pending and failing work, and problems that need attention. The mode is empty while billing
// is disabled.
func (s *Service) Watch(ctx context.Context) (mode string, state metering.BillingState, err error) {
	if !s.config.isEnabled() {
		return "", metering.BillingState{}, nil
	}
	state, err = metering.ReadState(ctx, s.db, s.events.meter)
	return s.mode(), state, err
}

func (s *Service) mode() string {
	if s.config.isLive() {
		return Live
	}
	return Test
}
