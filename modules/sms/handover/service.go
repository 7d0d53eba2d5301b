package handover

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/modules/sms/provider"
	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Channel is notified when messages become due.
const Channel = "sms"

// Route is the provider that carries an account's messages.
type Route struct {
	Provider provider.Provider // nil if there is none
	Own      bool              // belongs to the account, not to the operator
	Since    time.Time         // last change, by the database clock
}

// Account is the part of the module that handover uses.
type Account interface {
	// Route returns the route of an account's messages.
	Route(ctx context.Context, accountID string) (Route, error)
	// IsSuspended reports whether an account cannot send now.
	IsSuspended(ctx context.Context, accountID string) (bool, error)
	// OptedOut reports whether a number has opted out.
	OptedOut(ctx context.Context, accountID, number string, own bool) (bool, error)
	// OptOut stores an opt-out that a provider reported.
	OptOut(ctx context.Context, tx db.Execer, accountID, number string) error
	// ReceiptURL returns the URL where a provider posts the receipts of a message.
	ReceiptURL(messageID string) string
}

// Signals wakes the processes that submit messages.
type Signals interface {
	Subscribe(channel string) (<-chan struct{}, func())
	Wake(channel string)
}

// Node identifies this process among those that share the database.
type Node interface {
	worker.Process
	ID() int32              // 0: not a node
	ClaimsUntil() time.Time // deadline for claims, by the database clock; zero: none
}

const (
	claimLease = time.Minute // how long a process holds a claimed message
	parallel   = 32          // concurrent requests
)

// Config configures the worker. Zero fields select the default.
type Config struct {
	Poll       time.Duration // maximum interval between polls for due messages; default 1 s
	PerAccount int           // concurrent requests per account; default 8
	Idle       bool          // this process submits nothing
}

func (c Config) withDefaults() Config {
	if c.Poll == 0 {
		c.Poll = time.Second
	}
	if c.PerAccount == 0 {
		c.PerAccount = 8
	}
	return c
}

// Params are the dependencies of New.
type Params struct {
	Config   Config
	DB       *db.DB
	Account  Account
	Signals  Signals
	Node     Node
	Logger   *slog.Logger
	Workers  *worker.Metrics
	Registry prometheus.Registerer // nil: metrics are not exported
}

// Service submits messages. It is safe for concurrent use.
type Service struct {
	config  Config
	db      *db.DB
	account Account
	signals Signals
	node    Node
	log     *slog.Logger
	results outcomeCounters
	held    *limit.Keyed[string] // claimed messages, by account
	worker  *worker.Worker[*job, result]
	tasks   *worker.Tasks
}

// New returns a new Service. Nothing runs until Start.
func New(p Params) (*Service, error) {
	counters, err := newResults(p.Registry, p.DB)
	if err != nil {
		return nil, err
	}
	s := &Service{config: p.Config.withDefaults(), db: p.DB, account: p.Account, signals: p.Signals, node: p.Node,
		log: p.Logger, results: counters,
		tasks: worker.NewTasks(p.Logger, p.Workers)}
	s.held = limit.NewKeyed[string](limit.Bounds{PerKey: s.config.PerAccount})
	s.worker = worker.New(worker.Queue[*job, result]{Name: "sms", Claim: s.claim, Run: s.submitMessage,
		Settle: s.settleMessages, Release: s.release},
		worker.Config{Concurrency: parallel, Poll: s.config.Poll, Lease: claimLease, Process: p.Node},
		p.Logger, p.Workers)
	return s, nil
}

// Start starts submitting messages, unless this process is idle.
func (s *Service) Start(ctx context.Context) error {
	if s.config.Idle {
		return nil
	}
	if err := s.worker.Start(ctx); err != nil {
		return err
	}
	s.tasks.Start(worker.OnWake("wake-ups of text messages", s.signals, Channel, func(context.Context) error {
		s.worker.Nudge()
		return nil
	}))
	return nil
}

// Stop waits until ctx ends for requests in flight.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	return s.worker.Stop(ctx)
}

// Lease returns how long a process holds a claimed message.
func (s *Service) Lease() time.Duration { return claimLease }

// Wake makes every process poll for due messages.
func (s *Service) Wake() { s.signals.Wake(Channel) }

// Drain submits every message that is due now, one at a time, and returns how many there were. Tests call it
// instead of running the worker.
func (s *Service) Drain(ctx context.Context) (taken int, err error) {
	for {
		jobs, err := s.claim(ctx, 100, claimLease)
		if err != nil || len(jobs) == 0 {
			return taken, err
		}
		results := make([]worker.Result[*job, result], 0, len(jobs))
		for _, j := range jobs {
			results = append(results, worker.Result[*job, result]{Job: j, Value: s.submitMessage(ctx, j, nil)})
		}
		if err := s.settleMessages(ctx, results); err != nil {
			return taken, err
		}
		taken += len(jobs)
	}
}
