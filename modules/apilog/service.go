package apilog

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Module provides *Service, stores requests in the background, and deletes old and erased ones.
var Module = fx.Module("apilog",
	fx.Provide(ConfigOf, New),
	fx.Provide(fx.Private, func(s *accounts.Service) Accounts { return s }),
	module.ProvideSweep(func(s *Service) module.Sweep { return module.Sweep{What: "old API requests", Run: s.Sweep} }),
	module.ProvidePersonalData(func(s *Service) module.PersonalData {
		return module.PersonalData{What: "API requests", Purge: s.Purge, Erase: s.Erase, EraseUser: s.EraseUser}
	}),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{OnStart: s.Start, OnStop: s.Stop})
	}),
)

// Config configures the module.
type Config struct {
	Rate int // successful requests logged per second by this process
}

// ConfigOf returns the module's part of the installation's configuration.
func ConfigOf(v setting.Values) Config { return Config{Rate: Rate.Get(v)} }

// Accounts lists how long accounts keep sent mail.
type Accounts interface {
	Retentions(ctx context.Context, after string, limit int) ([]accounts.Retention, error)
}

var _ Accounts = (*accounts.Service)(nil)

// Params contains the parameters of New.
type Params struct {
	fx.In

	DB       *db.DB
	Config   Config
	Accounts Accounts
	Cursors  *page.Codec
	Logger   *slog.Logger
	Metrics  prometheus.Registerer `optional:"true"`
	Workers  *worker.Metrics       `optional:"true"`
}

// Service is the API log. It is safe for concurrent use, including across processes.
type Service struct {
	db       *db.DB
	accounts Accounts
	cursors  *page.Codec
	sampler  *sampler
	count    counters
	tasks    *worker.Tasks

	storing sync.Mutex // held while a buffer is stored
	pending sync.Mutex
	again   []erasure // erasures to be repeated
}

// New returns a new Service. Start starts storing requests.
func New(p Params) (*Service, error) {
	count, err := newCounters(p.Metrics)
	if err != nil {
		return nil, err
	}
	return &Service{db: p.DB, accounts: p.Accounts, cursors: p.Cursors, sampler: newSampler(p.Config.Rate, time.Now),
		count: count,
		tasks: worker.NewTasks(p.Logger, p.Workers)}, nil
}

// every is the maximum delay until a request appears in the log.
const every = 500 * time.Millisecond

// Start starts storing requests.
func (s *Service) Start(context.Context) error {
	s.tasks.Start(worker.Task{Name: "API log", First: every, Woken: s.sampler.woken,
		Step: func(ctx context.Context) (time.Duration, error) {
			return every, s.step(ctx, time.Now())
		}})
	return nil
}

// Stop stores the remaining requests.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	return s.step(ctx, time.Now().Add(repeatAfter))
}

func (s *Service) step(ctx context.Context, now time.Time) error {
	if err := s.Flush(ctx); err != nil {
		return err
	}
	return s.repeatErasures(ctx, now)
}

// Keep decides whether to log a request, when its response begins. It only counts; bodies are copied only for
// logged requests.
func (s *Service) Keep(accountID string, status int) bool {
	switch s.sampler.judge(accountID, status) {
	case sampled:
		s.count.sampled.Inc()
		return false
	case full:
		s.count.full.Inc()
		return false
	}
	return true
}

// Add adds a finished request. It never waits: if the buffer is full, the request is dropped.
func (s *Service) Add(r *Seen) {
	if !s.sampler.add(r) {
		s.count.full.Inc()
	}
}
