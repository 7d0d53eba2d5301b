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

// Node is this process among those that share the database.
type Node interface {
	worker.Process
	Processes(ctx context.Context) ([]node.Process, error) // that live, and that died lately
	Self() node.Process
}

// Params is what the room needs.
type Params struct {
	fx.In

	Config   Config
	DB       *db.DB
	Objects  blob.Store     // nil: there is none
	Budget   *intake.Budget // of bodies on their way
	Node     Node           `optional:"true"` // nil: a process that knows of no others
	Logger   *slog.Logger
	Workers  *worker.Metrics       `optional:"true"`
	Registry prometheus.Registerer `optional:"true"`
}

// Service moves bodies and reads them. Safe for concurrent use.
type Service struct {
	config  Config
	db      *db.DB
	objects *objects // nil: there is no store
	budget  *intake.Budget
	node    Node
	log     *slog.Logger
	worker  *worker.Worker[move, moved] // nil: this process moves and deletes nothing
	tasks   *worker.Tasks
	outage  outage
	begun   bool // this process has had older programs refused; of the walk alone
}

// objects is the object store, for moves, which may take minutes, and for clients that wait.
type objects struct {
	blob.Store

	prompt *blob.InteractiveStore
}

const (
	movesAtOnce = 8
	moveBatch   = 100
	// moveLease is enough for an upload of 40 MB over 4 Mbit/s, and reading it back.
	moveLease = 5 * time.Minute
)

// New makes the service; nothing runs before Start.
func New(p Params) (*Service, error) {
	if p.Budget == nil {
		return nil, errors.New("bodies: a budget is needed")
	}
	if p.Node == nil {
		p.Node = node.None{}
	}
	s := &Service{config: p.Config, db: p.DB, budget: p.Budget, node: p.Node, log: p.Logger, tasks: worker.NewTasks(p.Logger, p.Workers)}
	if p.Objects != nil {
		s.objects = &objects{p.Objects, blob.NewInteractiveStore(p.Objects)}
	}
	if err := s.measure(p.Registry); err != nil {
		return nil, err
	}
	if p.Objects == nil || p.Config.AcceptOnly {
		return s, nil
	}
	s.worker = worker.New(worker.Queue[move, moved]{Name: "sent bodies", Claim: s.claim, Run: s.run, Settle: s.settle, Release: s.release},
		worker.Config{Concurrency: movesAtOnce, Batch: moveBatch, Lease: moveLease, Poll: time.Second, Process: p.Node}, p.Logger, p.Workers)
	return s, nil
}

// moving tells whether bodies move; what is to be deleted is deleted anyway.
func (s *Service) moving() bool { return s.config.After > 0 }

// Start begins to move and to delete, where there is a store.
func (s *Service) Start(ctx context.Context) error {
	if s.worker == nil {
		return nil
	}
	if s.moving() {
		s.tasks.Start(worker.Task{Name: "walk of sent bodies", Step: s.step, Retry: worker.Backoff{Min: time.Second, Max: time.Minute}})
	}
	return s.worker.Start(ctx)
}

// Stop lets moves that have begun end while ctx lasts.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	if s.worker == nil {
		return nil
	}
	return s.worker.Stop(ctx)
}
