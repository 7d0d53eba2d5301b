package domains

import (
	"context"
	"log/slog"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/reportaddress"
	"github.com/postrider/postrider/runtime/mail/signer"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// Params contains the parameters of New.
type Params struct {
	fx.In

	Config   Config
	DB       *db.DB
	Bus      *bus.Bus
	Accounts *accounts.Service
	Resolver *dnsx.Resolver
	Engine   *signer.Engine   `optional:"true"` // defaults to Go
	NewKey   signing.Generate `optional:"true"` // defaults to dkim.GenerateKey
	Box      *secret.Box
	Cursors  *page.Codec
	Logger   *slog.Logger
	Metrics  *worker.Metrics `optional:"true"`
	On       module.On       `optional:"true"`

	Reports *reportaddress.Signer `optional:"true"` // nil: reports are not received here
	Logos   dnscheck.LogoChecker  `optional:"true"` // nil: the files of BIMI records are not checked

	Policies     dnscheck.PolicyFetcher   `optional:"true"` // nil: MTA-STS policies are not fetched
	MailHost     dnscheck.MailHostChecker `optional:"true"` // nil: the certificate of the mail server is not checked
	Certificates PolicyCertificates       `optional:"true"` // nil: this installation obtains no certificates
}

// accountReader is the part of the accounts module that this module uses.
type accountReader interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
}

// publisher is the part of the bus that this module uses.
type publisher interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
	Wake()
}

// Service manages domains. It is safe for concurrent use.
type Service struct {
	*lookups
	*claims

	db      *db.DB
	bus     publisher
	names   names
	keys    *signing.Ring
	cursors *page.Codec
	log     *slog.Logger
	on      module.On
	checks  *checks
}

// New returns a new Service; Start starts the background checks.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	config := p.Config.withDefaults()
	keys := signing.NewRing(p.Box, p.NewKey, p.Engine)
	names := names{newReserved(config), p.Accounts}
	lookups := newLookups(p.DB, keys, names.reserved.sandbox)
	checker := dnscheck.Checker{DNS: p.Resolver.WithoutCache(), Logos: p.Logos, Policies: p.Policies, MailHost: p.MailHost,
		Within: config.CheckTimeout}
	s := &Service{lookups: lookups, db: p.DB, bus: p.Bus, names: names, keys: keys, cursors: p.Cursors,
		log: p.Logger, on: p.On,
		claims: &claims{db: p.DB, bus: p.Bus, names: names, checker: checker, keys: keys, lookups: lookups,
			cursors: p.Cursors, log: p.Logger, key: p.Box.Derive("domain-claim")},
		checks: &checks{db: p.DB, bus: p.Bus, keys: keys, checker: checker, hosts: config.hosts(), reports: p.Reports, lookups: lookups,
			certificates: p.Certificates, log: p.Logger}}
	s.checks.worker = worker.New(s.checks.queue(), worker.Config{Concurrency: checksAtOnce, Batch: checksAtOnce,
		Lease: config.CheckTimeout + 45*time.Second,
		Poll:  5 * time.Second}, p.Logger, p.Metrics)
	return s, nil
}

// Start starts the background checks.
func (s *Service) Start(ctx context.Context) error { return s.checks.worker.Start(ctx) }

// Stop waits for running checks and stores their results.
func (s *Service) Stop(ctx context.Context) error { return s.checks.worker.Stop(ctx) }
