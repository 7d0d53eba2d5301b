package outbound

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/secret"
	"github.com/postrider/postrider/runtime/telemetry"
	"github.com/postrider/postrider/runtime/worker"
)

// Accounts tells what plan an account has.
type Accounts interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
	Find(ctx context.Context, emailOrID string) (*ent.Account, error)
}

// Domains tells what domains an account has.
type Domains interface {
	Find(ctx context.Context, accountID, nameOrID string) (*ent.Domain, error)
}

// Signals wakes this process when the configuration was changed.
type Signals interface {
	Subscribe(channel string) (<-chan struct{}, func())
}

// configChannel is woken when smarthosts or sources were changed.
const configChannel = "outbound"

// Params of New.
type Params struct {
	fx.In

	Config   Config
	DB       *db.DB
	Accounts Accounts
	Domains  Domains
	Signals  Signals `optional:"true"` // nil: looked every few seconds only
	Box      *secret.Box
	Logger   *slog.Logger
	Workers  *worker.Metrics `optional:"true"`
}

// Service knows the ways out. Safe for concurrent use.
type Service struct {
	config   Config
	db       *db.DB
	accounts Accounts
	domains  Domains
	signals  Signals
	box      *secret.Box
	log      *slog.Logger
	bind     func(source) error

	mutex   sync.Mutex
	known   *snapshot // nil before Start
	reading sync.Mutex

	tasks *worker.Tasks
}

// New makes the service; Start reads the configuration and keeps it fresh.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	return &Service{config: p.Config.withDefaults(), db: p.DB, accounts: p.Accounts, domains: p.Domains, signals: p.Signals, box: p.Box, log: p.Logger, tasks: worker.NewTasks(p.Logger, p.Workers),
		bind: func(s source) error { return bindTest(s.addr) }}, nil
}

// Start reads the configuration, warns of addresses that this machine does not have,
// and reads again whenever something was changed.
func (s *Service) Start(ctx context.Context) error {
	// Subscribed first, so that no change falls in between.
	var changed <-chan struct{}
	unsubscribe := func() {}
	if s.signals != nil {
		changed, unsubscribe = s.signals.Subscribe(configChannel)
	}
	if err := s.read(ctx); err != nil {
		unsubscribe()
		return fmt.Errorf("ways out: %w", err)
	}
	s.checkAddresses(ctx)
	// What was not heard of is found a few seconds later.
	s.tasks.Start(worker.Task{Name: "reading of the ways out", First: s.config.ReadEvery, Woken: changed, After: unsubscribe,
		Step: func(ctx context.Context) (time.Duration, error) { return s.config.ReadEvery, s.read(ctx) }})
	return nil
}

// Stop ends the reading.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	return nil
}

// checkAddresses warns once of what every delivery would run into.
func (s *Service) checkAddresses(ctx context.Context) {
	s.mutex.Lock()
	sources := s.known.sources
	s.mutex.Unlock()
	for _, src := range sources {
		if err := s.bind(src); err != nil && !src.paused {
			s.log.WarnContext(ctx, "this machine does not have a source address: deliveries from it will be put off", telemetry.KeyAddress, src.addr, telemetry.KeyError, err)
		}
	}
}
