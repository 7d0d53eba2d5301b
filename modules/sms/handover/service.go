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

// Channel is woken when messages became due.
const Channel = "sms"

// Route is the way out of an account's messages.
type Route struct {
	Provider provider.Provider // nil: there is none
	Own      bool              // the account's, and not the operator's
	Since    time.Time         // it was changed last, by the database clock
}

// Account is what the hand-over asks of the module.
type Account interface {
	// Route gives the way out of an account's messages.
	Route(ctx context.Context, accountID string) (Route, error)
	// Suspended tells whether an account must not send now.
	Suspended(ctx context.Context, accountID string) (bool, error)
	// OptedOut tells whether the owner of a number wants no messages.
	OptedOut(ctx context.Context, accountID, number string, own bool) (bool, error)
	// OptOut writes down what a provider has said of a number.
	OptOut(ctx context.Context, tx db.Execer, accountID, number string) error
	// ReceiptURL is where a provider tells what became of a message.
	ReceiptURL(messageID string) string
}

// Signals wakes the processes that hand over.
type Signals interface {
	Subscribe(channel string) (<-chan struct{}, func())
	Wake(channel string)
}

// Node is this process among those that share the database.
type Node interface {
	worker.Process
	ID() int32        // 0: none
	Until() time.Time // by the database clock, for claims; zero: any time
}

const (
	claimLease = time.Minute // how long a process holds a message that it claimed
	parallel   = 32          // concurrent requests
)

// Config of the worker. Zero fields take the default.
type Config struct {
	Poll       time.Duration // look for due messages at least so often: 1 s
	PerAccount int           // requests of one account at once: 8
	Idle       bool          // this process hands nothing over
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

// Params is what the service needs.
type Params struct {
	Config   Config
	DB       *db.DB
	Account  Account
	Signals  Signals
	Node     Node
	Logger   *slog.Logger
	Workers  *worker.Metrics
	Registry prometheus.Registerer // nil: nothing is counted
}

// Service hands messages over. Safe for concurrent use.
type Service struct {
	config  Config
	db      *db.DB
	account Account
	signals Signals
	node    Node
	log     *slog.Logger
	results results
	held    *limit.Keyed[string] // claimed messages, by account
	worker  *worker.Worker[*job, result]
	tasks   *worker.Tasks
}

// New makes the service; nothing runs before Start.
func New(p Params) (*Service, error) {
	counters, err := newResults(p.Registry, p.DB)
	if err != nil {
		return nil, err
	}
	s := &Service{config: p.Config.withDefaults(), db: p.DB, account: p.Account, signals: p.Signals, node: p.Node, log: p.Logger, results: counters,
		tasks: worker.NewTasks(p.Logger, p.Workers)}
	s.held = limit.NewKeyed[string](limit.Bounds{PerKey: s.config.PerAccount})
	s.worker = worker.New(worker.Queue[*job, result]{Name: "sms", Claim: s.claim, Run: s.run, Settle: s.settle, Release: s.release},
		worker.Config{Concurrency: parallel, Poll: s.config.Poll, Lease: claimLease, Process: p.Node}, p.Logger, p.Workers)
	return s, nil
}

// Start begins to hand over, unless this process leaves it to others.
func (s *Service) Start(ctx context.Context) error {
	if s.config.Idle {
		return nil
	}
	if err := s.worker.Start(ctx); err != nil {
		return err
	}
	s.tasks.Start(worker.OnWake("wakes of text messages", s.signals, Channel, func(context.Context) error {
		s.worker.Nudge()
		return nil
	}))
	return nil
}

// Stop lets the requests that have begun end while ctx lasts.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	return s.worker.Stop(ctx)
}

// Lease returns how long a process holds a message that it claimed.
func (s *Service) Lease() time.Duration { return claimLease }

// Wake has due messages looked for, in every process.
func (s *Service) Wake() { s.signals.Wake(Channel) }

// Drain hands over every message that is due now, one after another, and returns how many there
// were. Tests drive messages with it in place of the worker.
func (s *Service) Drain(ctx context.Context) (taken int, err error) {
	for {
		jobs, err := s.claim(ctx, 100, claimLease)
		if err != nil || len(jobs) == 0 {
			return taken, err
		}
		results := make([]worker.Result[*job, result], 0, len(jobs))
		for _, j := range jobs {
			results = append(results, worker.Result[*job, result]{Job: j, Value: s.run(ctx, j, nil)})
		}
		if err := s.settle(ctx, results); err != nil {
			return taken, err
		}
		taken += len(jobs)
	}
}
