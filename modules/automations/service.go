package automations

import (
	"context"
	"log/slog"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/automations/drain"
	"github.com/postrider/postrider/modules/automations/facts"
	"github.com/postrider/postrider/modules/automations/goals"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/proof"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/modules/automations/steps"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// Timeline reads the facts about subjects of one account, oldest first.
type Timeline interface {
	Facts(ctx context.Context, accountID string, subjectIDs ...string) (map[string][]event.Fact, error)
}

// Bus publishes facts, wakes their consumers, and deletes facts about people.
type Bus interface {
	ingest.Bus
	Forget(ctx context.Context, tx db.Execer, accountID string, subjectIDs ...string) (int64, error)
}

// Statistics counts the facts about runs that are about to be deleted.
type Statistics interface {
	Keep(ctx context.Context, tx db.Execer, accountID string, runIDs ...string) error
}

// Params contains the dependencies of the module.
type Params struct {
	fx.In

	Config   Config
	DB       *db.DB
	Bus      Bus
	Modules  steps.Modules
	Timeline Timeline
	Answers  ingest.Answers
	Signals  steps.Signals
	Node     steps.Node
	Box      *secret.Box
	Cursors  *page.Codec
	Logger   *slog.Logger
	Counts   Statistics      `optional:"true"` // nil if the module statistics is disabled
	Workers  *worker.Metrics `optional:"true"`
}

// engine runs automations.
type engine struct {
	events *ingest.Service
	steps  *steps.Service
	drain  *drain.Service
	facts  *facts.Service
	goals  *goals.Service
	counts Statistics // nil if the module statistics is disabled
}

// Service stores automations and runs them. It is safe for concurrent use.
type Service struct {
	engine

	db        *db.DB
	bus       Bus
	cursors   *page.Codec
	templates steps.Templates
	signals   steps.Signals
	timeline  Timeline
	versions  *runs.Store
	tasks     *worker.Tasks
	prover    *proof.Prover
}

// New creates the service. Nothing runs until Start.
func New(p Params) (*Service, error) {
	store := runs.NewStore()
	prover := proof.New(p.Box)
	events := ingest.New(ingest.Params{DB: p.DB, Bus: p.Bus, Answers: p.Answers, Signals: p.Signals, Versions: store,
		Box: p.Box, Prover: prover})
	return &Service{db: p.DB, bus: p.Bus, cursors: p.Cursors, templates: p.Modules.Templates, signals: p.Signals,
		timeline: p.Timeline, versions: store,
		tasks: worker.NewTasks(p.Logger, p.Workers), prover: prover,
		engine: engine{
			events: events,
			steps: steps.New(steps.Params{Config: p.Config.Steps, DB: p.DB, Bus: p.Bus, Modules: p.Modules,
				Signals: p.Signals, Node: p.Node, Versions: store,
				Prover: prover, Logger: p.Logger, Workers: p.Workers}),
			drain: drain.New(drain.Params{DB: p.DB, Bus: p.Bus, Signals: p.Signals, Versions: store}),
			facts: facts.New(p.DB, p.Signals, events),
			goals: goals.New(goals.Params{DB: p.DB, Bus: p.Bus, Signals: p.Signals, Versions: store}), counts: p.Counts,
		}}, nil
}

// Consumer returns the consumer that turns facts about mail into events.
func (s *Service) Consumer() bus.Consumer { return s.facts.Consumer() }

// WebhookSecret returns the secret that verifies the signatures of an account's webhook steps.
func (s *Service) WebhookSecret(accountID string) secret.String { return s.prover.Secret(accountID) }

// Start begins taking steps.
func (s *Service) Start(ctx context.Context) error {
	if err := s.steps.Start(ctx); err != nil {
		return err
	}
	s.tasks.Start(append(s.facts.Tasks(), s.drain.Task(), s.goals.Task())...)
	return nil
}

// Stop stops accepting events and waits until ctx ends for steps in progress.
func (s *Service) Stop(ctx context.Context) error {
	s.events.Stop()
	s.tasks.Stop(ctx)
	return s.steps.Stop(ctx)
}

// Post accepts a custom event (package ingest).
func (s *Service) Post(ctx context.Context, p ingest.Post) (ingest.Result, error) {
	return s.events.Post(ctx, p)
}

// Sweep cancels runs that were started by events while their automation was being archived (package drain).
func (s *Service) Sweep(ctx context.Context) (int64, error) { return s.drain.Sweep(ctx) }

// Convert converts the runs whose goal was reached (package goals). It is for tests that run no worker.
func (s *Service) Convert(ctx context.Context) (left bool, err error) { return s.goals.Convert(ctx) }

// Drain takes every step that is due now. It is for tests that run no worker.
func (s *Service) Drain(ctx context.Context) (int, error) { return s.steps.Drain(ctx) }
