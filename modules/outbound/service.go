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
	"github.com/postrider/postrider/runtime/machine"
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
	Nodes    Nodes   `optional:"true"` // nil: there is no other process, and every way is here
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
	nodes    Nodes

	had    map[string]time.Time // when a process last had a source, by its id; while reading
	isGone map[string]bool      // likewise: nobody has had it for long

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
	return &Service{config: p.Config.withDefaults(), db: p.DB, accounts: p.Accounts, domains: p.Domains, signals: p.Signals, box: p.Box, log: p.Logger, nodes: p.Nodes, tasks: worker.NewTasks(p.Logger, p.Workers)}, nil
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

// checkAddresses warns once of addresses that neither this machine nor another process has.
func (s *Service) checkAddresses(ctx context.Context) {
	s.mutex.Lock()
	sources := s.known.sources
	s.mutex.Unlock()
	for _, src := range sources {
		lacks := src.reach > away
		if s.nodes == nil {
			lacks = !machine.Interfaces{}.Has(src.addr)
		}
		if lacks && !src.paused {
			s.log.WarnContext(ctx, "this machine does not have a source address, and no other process has: mail waits for one that has it, or leaves by another", telemetry.KeyAddress, src.addr, "pool", src.pool, "node", src.node)
		}
	}
}
