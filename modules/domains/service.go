package domains

import (
	"context"
	"crypto"
	"crypto/rsa"
	"log/slog"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/spf"
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

// resolver is what is needed of DNS.
type resolver interface {
	spf.Source
	LookupCNAME(ctx context.Context, name string) (string, error)
}

// Service answers for domains. Safe for concurrent use.
type Service struct {
	config   Config
	db       *db.DB
	bus      publisher
	accounts accountReader
	dns      resolver
	box      *secret.Box
	cursors  *page.Codec
	log      *slog.Logger
	on       module.On

	reserved    reserved
	claimKey    []byte
	generateKey func() (*rsa.PrivateKey, error)
	generating  chan struct{} // bounds key generation, which is pure CPU
	identities  *otter.Cache[identityKey, sender]
	receivers   *otter.Cache[string, receipt]
	signers     *otter.Cache[string, crypto.Signer]
	checks      *worker.Worker[job, checked]
	once        sync.Once
}

const maxSigners = 2_000 // parsed keys kept in memory, some 4 kB each

// New makes the service; Start begins the checks in the background.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	config := p.Config.withDefaults()
	s := &Service{config: config, db: p.DB, bus: p.Bus, accounts: p.Accounts, dns: p.Resolver.Uncached(), box: p.Box, cursors: p.Cursors, log: p.Logger, on: p.On,
		reserved: newReserved(config), claimKey: p.Box.Derive("domain-claim"), generateKey: dkim.GenerateKey, generating: make(chan struct{}, 1)}
	var err error
	s.identities, err = otter.New(&otter.Options[identityKey, sender]{
		MaximumSize: 50_000,
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[identityKey, sender]) time.Duration {
			return e.Value.lifetime(config.IdentityTTL)
		}),
	})
	if err != nil {
		return nil, err
	}
	if s.receivers, err = newReceivers(config.IdentityTTL); err != nil {
		return nil, err
	}
	if s.signers, err = otter.New(&otter.Options[string, crypto.Signer]{MaximumSize: maxSigners}); err != nil {
		return nil, err
	}
	s.checks = worker.New(s.queue(), worker.Config{Concurrency: config.Checks, Batch: config.Checks, Lease: config.CheckTimeout + 45*time.Second,
		Poll: 5 * time.Second}, p.Logger, p.Metrics)
	return s, nil
}

// Start begins the checks in the background.
func (s *Service) Start(ctx context.Context) error { return s.checks.Start(ctx) }

// Stop lets running checks end and stores what they saw.
func (s *Service) Stop(ctx context.Context) error {
	s.once.Do(func() {
		s.identities.StopAllGoroutines()
		s.receivers.StopAllGoroutines()
	})
	return s.checks.Stop(ctx)
}
