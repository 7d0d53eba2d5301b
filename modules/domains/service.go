package domains

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/cache"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/signer"
	"github.com/postrider/postrider/runtime/module"
	"github.com/postrider/postrider/runtime/page"
	"github.com/postrider/postrider/runtime/secret"
	"github.com/postrider/postrider/runtime/worker"
)

// Params of New.
type Params struct {
	fx.In

	Config   Config
	DB       *db.DB
	Bus      *bus.Bus
	Accounts *accounts.Service
	Resolver *dnsx.Resolver
	Engine   *signer.Engine   `optional:"true"` // nil: Go signs
	NewKey   signing.Generate `optional:"true"` // nil: dkim.GenerateKey
	Box      *secret.Box
	Cursors  *page.Codec
	Logger   *slog.Logger
	Metrics  *worker.Metrics `optional:"true"`
	On       module.On       `optional:"true"`
}

// accountReader is what is needed of accounts.
type accountReader interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
}

// publisher is what is needed of the bus.
type publisher interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
	Wake()
}

// Service answers for domains. Safe for concurrent use.
type Service struct {
	config   Config
	db       *db.DB
	bus      publisher
	accounts accountReader
	checker  dnscheck.Checker
	keys     *signing.Ring
	cursors  *page.Codec
	log      *slog.Logger
	on       module.On

	reserved   reserved
	claimKey   []byte
	identities cache.Cache[identityKey, sender]
	receivers  cache.Cache[string, receipt]
	checks     *worker.Worker[job, checked]
	once       sync.Once
}

// New makes the service; Start begins the checks in the background.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	config := p.Config.withDefaults()
	keys, err := signing.NewRing(p.Box, p.NewKey, p.Engine)
	if err != nil {
		return nil, err
	}
	s := &Service{config: config, db: p.DB, bus: p.Bus, accounts: p.Accounts, cursors: p.Cursors, log: p.Logger, on: p.On,
		checker: dnscheck.Checker{DNS: p.Resolver.Uncached(), Within: config.CheckTimeout}, keys: keys,
		reserved: newReserved(config), claimKey: p.Box.Derive("domain-claim")}
	s.identities, err = otter.New(&otter.Options[identityKey, sender]{
		MaximumSize: 50_000,
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[identityKey, sender]) time.Duration {
			return e.Value.lifetime()
		}),
	})
	if err != nil {
		return nil, err
	}
	if s.receivers, err = newReceivers(); err != nil {
		return nil, err
	}
	s.checks = worker.New(s.queue(), worker.Config{Concurrency: checksAtOnce, Batch: checksAtOnce, Lease: config.CheckTimeout + 45*time.Second,
		Poll: 5 * time.Second}, p.Logger, p.Metrics)
	return s, nil
}

// Start begins the checks in the background.
func (s *Service) Start(ctx context.Context) error { return s.checks.Start(ctx) }

// Stop lets running checks end and stores what they saw.
func (s *Service) Stop(ctx context.Context) error {
	s.once.Do(func() {
		s.keys.Close()
		s.identities.StopAllGoroutines()
		s.receivers.StopAllGoroutines()
	})
	return s.checks.Stop(ctx)
}
