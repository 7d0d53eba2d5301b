package accounts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"go.uber.org/fx"

	"github.com/postrider/postrider/ent/plan"
	"github.com/postrider/postrider/modules/accounts/credentials"
	"github.com/postrider/postrider/runtime/base/cache"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/bus"
)

// Params of New.
type Params struct {
	fx.In

	Config  Config `optional:"true"` // the zero value selects the defaults
	DB      *db.DB
	Cursors *page.Codec
	Logger  *slog.Logger
	Workers *worker.Metrics `optional:"true"`
}

// Service manages accounts, users, plans and API keys. It is safe for concurrent use.
type Service struct {
	config  Config
	db      *db.DB
	cursors *page.Codec

	keys      *cache.Cache[keyHash, cachedCredential]
	accounts  *cache.Cache[string, Account]
	used      *credentials.Recorder
	operators operatorKeys
	facts     *bus.Log

	tasks *worker.Tasks
	once  sync.Once
}

// operatorKeys are the operator keys that this process knows.
type operatorKeys struct {
	known *cache.Cache[keyHash, cachedCredential]
	used  *credentials.Recorder
}

// New returns a new Service; Start runs its background tasks.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	config := p.Config.withDefaults()
	newKeyCache := func() *cache.Cache[keyHash, cachedCredential] {
		return cache.New(cache.Config[keyHash, cachedCredential]{Max: config.CacheSize, TTL: config.CacheTTL,
			LoadTimeout: lookupTimeout})
	}
	accounts := cache.New(cache.Config[string, Account]{Max: config.CacheSize, TTL: config.CacheTTL,
		LoadTimeout: lookupTimeout})
	return &Service{config: config, db: p.DB, facts: bus.NewLog(p.DB),
		used:      credentials.NewAddressRecorder(p.DB.SQL, "api_keys"),
		operators: operatorKeys{newKeyCache(), credentials.NewAddressRecorder(p.DB.SQL, "operator_keys")},
		cursors:   p.Cursors, keys: newKeyCache(), accounts: accounts,
		tasks: worker.NewTasks(p.Logger, p.Workers)}, nil
}

// Start starts the background tasks, which write last_used_at, delete old counts and count emails. It returns
// an error if the default plan does not exist.
func (s *Service) Start(ctx context.Context) error {
	if p := s.config.DefaultPlan; p != PlanScale && p != PlanFree { // exists in every installation
		known, err := s.db.Ent.Plan.Query().Where(plan.ID(p)).Exist(ctx)
		if err != nil {
			return fmt.Errorf("default plan: %w", err)
		}
		if !known {
			return fmt.Errorf("%s: %q is not a plan of this installation; postrider admin plan list shows them",
				DefaultPlan.Name, p)
		}
	}
	s.tasks.Start(
		worker.Every("last use of API keys", s.config.LastUsedEvery, s.flushUses),
		worker.Every("sweep of old email counts", s.config.SweepEvery, s.sweepUsage),
		worker.Every("count of emails by the hour", s.config.CloseEvery, s.closeHours).
			WithFirstDelay(s.config.CloseEvery/20),
		worker.Every("recount after changes of plan", s.config.RecountEvery, s.recountDue),
	)
	return nil
}

// Stop stops the background tasks and writes pending values of last_used_at.
func (s *Service) Stop(ctx context.Context) error {
	var err error
	s.once.Do(func() {
		s.tasks.Stop(ctx)
		err = s.flushUses(ctx)
	})
	return err
}

func (s *Service) flushUses(ctx context.Context) error {
	return errors.Join(s.used.Flush(ctx), s.operators.used.Flush(ctx))
}
