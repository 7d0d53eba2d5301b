package webhooks

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/egress"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/node"
	"github.com/postrider/postrider/runtime/page"
	"github.com/postrider/postrider/runtime/secret"
	"github.com/postrider/postrider/runtime/telemetry"
	"github.com/postrider/postrider/runtime/worker"
)

// Signals wakes the delivering processes after a commit.
type Signals interface {
	Wake(channel string)
	Subscribe(channel string) (<-chan struct{}, func())
}

// Node is this process among those that share the database.
type Node interface {
	worker.Process
	ID() int32        // 0: none
	Until() time.Time // by the database clock, for claims; zero: any time
	OnGone(what string, f node.HandBack)
}

// deliveryChannel is woken when deliveries became due.
const deliveryChannel = "webhooks"

// Params is what the module needs.
type Params struct {
	fx.In

	Config  Config
	DB      *db.DB
	Box     *secret.Box
	Signals Signals
	Node    Node `optional:"true"` // nil: a process that knows of no others
	Cursors *page.Codec
	Logger  *slog.Logger
	Workers *worker.Metrics
	Offer   event.Offer `optional:"true"` // nil: every event can happen

	Registry prometheus.Registerer `optional:"true"`
	Tracing  *telemetry.Tracing    `optional:"true"`
}

// Service keeps endpoints and delivers to them. Safe for concurrent use.
type Service struct {
	db      *db.DB
	box     *secret.Box
	signals Signals
	node    Node
	cursors *page.Codec
	log     *slog.Logger
	config  Config
	guard   *egress.Guard
	client  *http.Client
	lookup  func(ctx context.Context, host string) ([]netip.Addr, error)
	offer   event.Offer
	types   []string // of events that endpoints can have, by name

	interest   interest
	queued     atomic.Bool // deliveries that the bus has not committed yet
	flights    *flights
	deliveries *worker.Worker[delivery, answer]
	results    results
	tracing    *telemetry.Tracing // nil: off
	tasks      *worker.Tasks      // reading of who has endpoints, wakes of deliveries
}

// lateToo is how many times the concurrency may be under way with what hangs.
const lateToo = 4

// New makes the service; nothing runs before Start.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	counters, err := newResults(p.Registry, p.DB)
	if err != nil {
		return nil, err
	}
	c := p.Config.withDefaults()
	c.Lookup = withLocalhost(c.Lookup)
	guard := egress.NewGuard(c.Allow)
	if p.Node == nil {
		p.Node = node.None{}
	}
	s := &Service{db: p.DB, box: p.Box, signals: p.Signals, node: p.Node, cursors: p.Cursors, log: p.Logger, config: c, guard: guard,
		client: egress.NewClient(egress.ClientConfig{Guard: guard, PlainLoopback: c.PlainLoopback, ConnectTimeout: connectTimeout,
			Timeout: c.Timeout, RootCAs: c.RootCAs, Lookup: c.Lookup}),
		lookup: c.Lookup, offer: p.Offer, types: p.Offer.Types(), flights: newFlights(c.Concurrency, c.PerEndpoint), tasks: worker.NewTasks(p.Logger, p.Workers), results: counters, tracing: p.Tracing}
	s.deliveries = worker.New(worker.Queue[delivery, answer]{
		Name: "webhooks", Claim: s.claim, Run: s.deliver, Settle: s.settle, Release: s.release,
	}, worker.Config{Concurrency: lateToo * c.Concurrency, Batch: min(c.Concurrency, 100), Lease: lease, Poll: c.Poll, Process: p.Node}, p.Logger, p.Workers)
	s.flights.nudge = s.deliveries.Nudge
	p.Node.OnGone("webhook deliveries", s.handBackOf)
	return s, nil
}

// withLocalhost keeps the names of this machine from DNS servers (RFC 6761 section
// 6.3). The guard judges them like other addresses.
func withLocalhost(lookup func(context.Context, string) ([]netip.Addr, error)) func(context.Context, string) ([]netip.Addr, error) {
	if lookup == nil {
		lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	return func(ctx context.Context, host string) ([]netip.Addr, error) {
		if onThisMachine(strings.ToLower(strings.TrimSuffix(host, "."))) {
			return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
		}
		return lookup(ctx, host)
	}
}

// Start begins to deliver, unless this process only accepts.
func (s *Service) Start(ctx context.Context) error {
	s.tasks.Start(s.rereading())
	if s.config.AcceptOnly {
		return nil
	}
	if err := s.deliveries.Start(ctx); err != nil {
		return err
	}
	s.tasks.Start(worker.OnWake("wakes of webhook deliveries", s.signals, deliveryChannel, func(context.Context) error {
		s.deliveries.Nudge()
		return nil
	}))
	return nil
}

// Stop lets the POSTs that have begun end while ctx lasts.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	err := s.deliveries.Stop(ctx)
	s.client.CloseIdleConnections()
	s.flights.close()
	return err
}
