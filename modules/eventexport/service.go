package eventexport

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/eventexport/jetstream"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/node"
)

// Config configures the export. Zero fields use the defaults; without a target, nothing is exported.
type Config struct {
	Stream jetstream.Config
	Poll   time.Duration  // poll interval, five times longer while idle; default 400 ms
	Page   int            // facts published under one claim; default 1000
	Retry  worker.Backoff // delay after failed pages; default 500 ms to 10 s
}

// ConfigOf returns the module's part of the installation's configuration.
func ConfigOf(v setting.Values, log *slog.Logger) Config { return Config{Stream: streamOf(v, log)} }

func (c Config) withDefaults() Config {
	if c.Poll == 0 {
		c.Poll = 400 * time.Millisecond
	}
	if c.Page == 0 {
		c.Page = pageFacts
	}
	if c.Retry == (worker.Backoff{}) {
		c.Retry = worker.Backoff{Min: 500 * time.Millisecond, Max: 10 * time.Second}
	}
	return c
}

// lease is how long a process that died, and whose death was not detected, delays the export.
const lease = 12 * time.Second

// Facts reads the published facts.
type Facts interface {
	Horizon(ctx context.Context) (time.Time, error)
	ReadFeed(ctx context.Context, w bus.Feed) (bus.FeedPage, error)
}

var _ Facts = (*bus.Log)(nil)

// Node is this process among those that share the database.
type Node interface {
	worker.Process
	ID() int32              // 0 without an id
	ClaimsUntil() time.Time // by the database clock, for claims; zero means any time
	OnDead(what string, f node.ReleaseFunc)
}

// Params contains the parameters of New.
type Params struct {
	fx.In

	Config   Config
	DB       *db.DB
	Facts    Facts
	Node     Node `optional:"true"` // nil if this process knows no others
	Logger   *slog.Logger
	Workers  *worker.Metrics       `optional:"true"`
	Registry prometheus.Registerer `optional:"true"`
}

// Service exports events. It is safe for concurrent use, including across processes.
type Service struct {
	config Config
	db     *db.DB
	facts  Facts
	node   Node
	log    *slog.Logger
	worker *worker.Worker[cursor, page]
	sent   prometheus.Counter

	mu       sync.Mutex
	stream   *jetstream.Stream // nil before the first page
	doubtful bool              // the latest page failed
}

// New returns a new Service. Start starts the export.
func New(p Params) (*Service, error) {
	if p.Node == nil {
		p.Node = node.None{}
	}
	s := &Service{config: p.Config.withDefaults(), db: p.DB, facts: p.Facts, node: p.Node, log: p.Logger}
	s.worker = worker.New(worker.Queue[cursor, page]{
		Name: "event export", Claim: s.claim, Run: s.run, Settle: s.settle, Extend: s.extend, Release: s.release,
	}, worker.Config{Concurrency: 1, Batch: 1, Lease: lease, Poll: s.config.Poll, Process: p.Node}, p.Logger, p.Workers)
	p.Node.OnDead("event export", s.handBackOf)
	return s, s.measure(p.Registry)
}

// isEnabled reports whether this process exports.
func (s *Service) isEnabled() bool { return !s.config.Stream.Target.IsZero() }

// Start starts the export, if there is a target.
func (s *Service) Start(ctx context.Context) error {
	if !s.isEnabled() {
		return nil
	}
	if err := s.create(ctx); err != nil {
		return err
	}
	return s.worker.Start(ctx)
}

// Stop stops the export. It completes the current page unless ctx ends first.
func (s *Service) Stop(ctx context.Context) error {
	err := s.worker.Stop(ctx)
	s.disconnect()
	return err
}
