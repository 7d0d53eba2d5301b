package steps

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/proof"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/egress"
)

// Signals wakes the processes that take steps, after a commit.
type Signals interface {
	Wake(channel string)
	Subscribe(channel string) (<-chan struct{}, func())
}

// Node identifies this process among those that share the database.
type Node interface {
	worker.Process
	ClaimsUntil() time.Time // deadline for claims, by the database clock; zero: none
}

// claimLease is how long a process holds a run that it claimed.
const claimLease = time.Minute

// Config configures the worker.
type Config struct {
	Idle    bool                  // this process takes no steps
	Client  *http.Client          // client of webhook steps; it checks each address that it dials
	Targets *egress.TargetChecker // checks the URLs of webhook steps before activation; nil: accept all
}

// Params contains the dependencies of the service.
type Params struct {
	Config   Config
	DB       *db.DB
	Bus      ingest.Bus
	Modules  Modules
	Signals  Signals
	Node     Node
	Versions *runs.Store
	Prover   *proof.Prover
	Logger   *slog.Logger
	Workers  *worker.Metrics
}

// Service takes steps. It is safe for concurrent use.
type Service struct {
	config   Config
	db       *db.DB
	bus      ingest.Bus
	effects  map[string]effect // keyed by step type
	signals  Signals
	node     Node
	versions *runs.Store
	worker   *worker.Worker[*runs.ClaimedRun, result]
	tasks    *worker.Tasks
}

// concurrentSteps is how many steps a process takes at the same time. Steps mostly wait: for a commit, which the emails
// of concurrent steps share, or for the receiver of a webhook.
const concurrentSteps = 96

// New creates the service. Nothing runs until Start.
func New(p Params) *Service {
	s := &Service{config: p.Config, db: p.DB, bus: p.Bus, signals: p.Signals, node: p.Node, versions: p.Versions,
		tasks: worker.NewTasks(p.Logger, p.Workers)}
	s.worker = worker.New(worker.Queue[*runs.ClaimedRun, result]{Name: "automations", Claim: s.Claim, Run: s.step,
		Settle: s.settle, Release: s.release},
		worker.Config{Lease: claimLease, Process: p.Node, Concurrency: concurrentSteps}, p.Logger, p.Workers)
	s.effects = newEffects(&services{Modules: p.Modules, config: p.Config, db: p.DB, bus: p.Bus, prover: p.Prover,
		nudge: s.worker.Nudge})
	return s
}

// Start begins taking steps, unless this process takes none.
func (s *Service) Start(ctx context.Context) error {
	if s.config.Idle {
		return nil
	}
	if err := s.worker.Start(ctx); err != nil {
		return err
	}
	s.tasks.Start(
		worker.OnWake("wakes of automations", s.signals, ingest.WorkChannel, func(context.Context) error {
			s.worker.Nudge()
			return nil
		}),
		worker.Every("runs whose account was refused", retryRefusedEvery, s.RetryRefused),
	)
	return nil
}

const (
	retryRefusedEvery = 2 * time.Second
	retryRefusedMost  = 1000 // concurrent runs per account
)

// RetryRefused makes steps due that were rejected because of accounts that have changed since.
func (s *Service) RetryRefused(ctx context.Context) error {
	n, err := runs.RetryRefused(ctx, s.db.SQL, retryRefusedMost)
	if n > 0 {
		s.worker.Nudge()
	}
	return err
}

// Stop waits until ctx ends for steps in progress.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	return s.worker.Stop(ctx)
}

// Lease returns how long a process holds a run that it claimed.
func (s *Service) Lease() time.Duration { return claimLease }

// Claim takes due runs under a lease.
func (s *Service) Claim(ctx context.Context, limit int, lease time.Duration) ([]*runs.ClaimedRun, error) {
	var until *time.Time
	if at := s.node.ClaimsUntil(); !at.IsZero() {
		until = &at
	}
	return runs.Claim(ctx, s.db.Prepared, limit, lease, until)
}

func (s *Service) release(ctx context.Context, list []*runs.ClaimedRun) error {
	back := make([]runs.ReleasedClaim, 0, len(list))
	for _, c := range list {
		back = append(back, runs.ReleasedClaim{Live: c.LiveRun})
	}
	return runs.Release(ctx, s.db.Hot, back)
}

// Drain takes every step that is due now, one after another, and returns how many there were. Tests and the
// simulation of outages call it instead of running the worker.
func (s *Service) Drain(ctx context.Context) (taken int, err error) {
	for {
		list, err := s.Claim(ctx, 100, time.Minute)
		if err != nil || len(list) == 0 {
			return taken, err
		}
		if err := s.TakeSteps(ctx, list); err != nil {
			return taken, err
		}
		taken += len(list)
	}
}

// TakeSteps takes the steps of claimed runs, one after another.
func (s *Service) TakeSteps(ctx context.Context, list []*runs.ClaimedRun) error {
	results := make([]worker.Result[*runs.ClaimedRun, result], 0, len(list))
	for _, c := range list {
		results = append(results, worker.Result[*runs.ClaimedRun, result]{Job: c, Value: s.step(ctx, c, nil)})
	}
	return s.settle(ctx, results)
}
