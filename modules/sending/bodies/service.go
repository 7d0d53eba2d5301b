package bodies

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/node"
)

// Node identifies this process among those that share the database.
type Node interface {
	worker.Process
	Processes(ctx context.Context) ([]node.Process, error) // alive or recently dead
	Self() node.Process
}

// Params are the dependencies of Service.
type Params struct {
	fx.In

	Config   Config
	DB       *db.DB
	Objects  blob.Store     // nil if there is no store
	Budget   *intake.Budget // for bodies being moved
	Node     Node           `optional:"true"` // nil for a process that runs alone
	Logger   *slog.Logger
	Workers  *worker.Metrics       `optional:"true"`
	Registry prometheus.Registerer `optional:"true"`
}

// Service moves and reads bodies. It is safe for concurrent use.
type Service struct {
	config  Config
	db      *db.DB
	objects *objectStores // nil if there is no store
	budget  *intake.Budget
	node    Node
	log     *slog.Logger
	worker  *worker.Worker[move, movedBody] // nil if this process neither moves nor deletes
	tasks   *worker.Tasks
	outage  outage
	begun   bool // set once this process has made the database reject older versions; used only by the walk
}

// objectStores is the object store with two timeouts: minutes for moves, and a short one for waiting clients.
type objectStores struct {
	blob.Store

	prompt *blob.InteractiveStore
}

const (
	movesAtOnce = 8
	moveBatch   = 100
	// moveLease is long enough to upload 40 MB at 4 Mbit/s and read it back.
	moveLease = 5 * time.Minute
)

// New returns a new Service. Nothing runs until Start.
func New(p Params) (*Service, error) {
	if p.Budget == nil {
		return nil, errors.New("bodies: Budget is required")
	}
	if p.Node == nil {
		p.Node = node.None{}
	}
	s := &Service{config: p.Config, db: p.DB, budget: p.Budget, node: p.Node, log: p.Logger,
		tasks: worker.NewTasks(p.Logger, p.Workers)}
	if p.Objects != nil {
		s.objects = &objectStores{p.Objects, blob.NewInteractiveStore(p.Objects)}
	}
	if err := s.registerGauge(p.Registry); err != nil {
		return nil, err
	}
	if p.Objects == nil || p.Config.AcceptOnly {
		return s, nil
	}
	s.worker = worker.New(worker.Queue[move, movedBody]{Name: "sent bodies", Claim: s.claimMoves, Run: s.runMove,
		Settle: s.settleMoves, Release: s.releaseMoves},
		worker.Config{Concurrency: movesAtOnce, Batch: moveBatch, Lease: moveLease, Poll: time.Second, Process: p.Node},
		p.Logger, p.Workers)
	return s, nil
}

// movesBodies reports whether bodies move. Deletions happen in either case.
func (s *Service) movesBodies() bool { return s.config.After > 0 }

// Start starts moving and deleting bodies, if there is a store.
func (s *Service) Start(ctx context.Context) error {
	if s.worker == nil {
		return nil
	}
	if s.movesBodies() {
		s.tasks.Start(worker.Task{Name: "walk of sent bodies", Step: s.walkStep,
			Retry: worker.Backoff{Min: time.Second, Max: time.Minute}})
	}
	return s.worker.Start(ctx)
}

// Stop waits until ctx ends for moves in progress.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	if s.worker == nil {
		return nil
	}
	return s.worker.Stop(ctx)
}
