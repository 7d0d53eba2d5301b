package webhooks

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/webhooks/post"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
	"github.com/postrider/postrider/runtime/work/node"
)

// Signals wakes the delivering processes after a commit.
type Signals interface {
	Wake(channel string)
	Subscribe(channel string) (<-chan struct{}, func())
}

// Publisher is the part of the bus that publishes disabled endpoints.
type Publisher interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
	WakeFor(facts ...event.Fact)
}

// Node identifies this process among those that share the database.
type Node interface {
	worker.Process
	ID() int32              // 0: not a node
	ClaimsUntil() time.Time // deadline for claims, by the database clock; zero: none
	OnDead(what string, f node.ReleaseFunc)
}

// deliveryChannel is woken when deliveries become due.
const deliveryChannel = "webhooks"

// Params are the dependencies of the module.
type Params struct {
	fx.In

	Config  Config
	DB      *db.DB
	Box     *secret.Box
	Signals Signals
	Events  Publisher // nil in a process that makes no deliveries
	Node    Node      `optional:"true"` // nil: this process is not a node
	Cursors *page.Codec
	Logger  *slog.Logger
	Workers *worker.Metrics
	Offer   event.Offer    `optional:"true"` // nil: all events may occur
	Brief   BriefURLPrefix `optional:"true"`

	Registry prometheus.Registerer `optional:"true"`
	Tracing  *telemetry.Tracing    `optional:"true"`
}

// Service stores endpoints and delivers events to them. It is safe for concurrent use.
type Service struct {
	db       *db.DB
	box      *secret.Box
	signals  Signals
	cursors  *page.Codec
	poster   *post.Poster
	offer    event.Offer   // events that endpoints may subscribe to
	interest *bus.Interest // accounts with enabled endpoints
	queued   atomic.Bool   // set while deliveries of the current bus transaction are not committed
	tasks    *worker.Tasks // refreshes interest and wakes the worker
	*deliverer
}

// deliverer claims due deliveries, makes one attempt each and settles it.
type deliverer struct {
	db      *db.DB
	box     *secret.Box
	signals Signals
	node    Node
	poster  *post.Poster
	flights *inFlight
	taking  claimLock // held from reading the limits of flights until the claimed deliveries count
	handed  handover
	worker  *worker.Worker[delivery, answer]
	idle    bool // this process makes no deliveries
	brief   string
	poll    time.Duration
	expired time.Time // latest search for leases that have ended; only the claiming goroutine uses it

	publisher Publisher
	observability
}

// observability holds the logger, metrics and traces of attempts.
type observability struct {
	log     *slog.Logger
	results results
	tracing *telemetry.Tracing // nil: off
}

// lateFactor bounds the POSTs in flight at this multiple of the concurrency, because late ones do not count
// against it.
const lateFactor = 4

// New creates the service. Nothing runs until Start.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	counters, err := newResults(p.Registry, p.DB)
	if err != nil {
		return nil, err
	}
	if p.Node == nil {
		p.Node = node.None{}
	}
	c := p.Config.withDefaults()
	poster := post.New(c.Config, p.Logger)
	return &Service{db: p.DB, box: p.Box, signals: p.Signals, cursors: p.Cursors, poster: poster, offer: p.Offer,
		interest: newInterest(p.DB, p.Signals), tasks: worker.NewTasks(p.Logger, p.Workers),
		deliverer: newDeliverer(p, c, poster, observability{p.Logger, counters, p.Tracing})}, nil
}

func newDeliverer(p Params, c Config, poster *post.Poster, told observability) *deliverer {
	d := &deliverer{db: p.DB, box: p.Box, signals: p.Signals, node: p.Node, poster: poster,
		flights: newFlights(c.Concurrency), taking: newClaimLock(), idle: c.AcceptOnly,
		brief: string(p.Brief), poll: c.Poll, publisher: p.Events, observability: told}
	d.worker = worker.New(worker.Queue[delivery, answer]{
		Name: "webhooks", Claim: d.claim, Run: d.deliver, Settle: d.settle, Release: d.releaseClaims,
	}, worker.Config{Concurrency: lateFactor * c.Concurrency, Batch: min(c.Concurrency, 100), Lease: lease,
		Poll: c.Poll, Process: p.Node}, p.Logger, p.Workers)
	d.flights.nudge, d.flights.nudgeNow = d.worker.Nudge, d.worker.NudgeNow
	p.Node.OnDead("webhook deliveries", d.handBackNode)
	return d
}

// Start starts deliveries, unless this process only accepts mail.
func (s *Service) Start(ctx context.Context) error {
	s.tasks.Start(s.interest.Task())
	if s.idle {
		return nil
	}
	if err := s.worker.Start(ctx); err != nil {
		return err
	}
	s.handed.open.Store(true)
	s.tasks.Start(worker.OnWake("wakes of webhook deliveries", s.signals, deliveryChannel, func(context.Context) error {
		s.worker.Nudge()
		return nil
	}))
	return nil
}

// Stop waits until ctx ends for POSTs in flight.
func (s *Service) Stop(ctx context.Context) error {
	s.handed.open.Store(false)
	s.tasks.Stop(ctx)
	err := s.worker.Stop(ctx)
	s.poster.Close()
	s.flights.close()
	return err
}
