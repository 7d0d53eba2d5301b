package outbound

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/node/machine"
)

// Signals wakes this process when the configuration was changed.
type Signals interface {
	Subscribe(channel string) (<-chan struct{}, func())
}

// WaysParams are the parameters of NewWays.
type WaysParams struct {
	fx.In

	Config   Config
	DB       *db.DB
	Accounts Accounts
	Signals  Signals `optional:"true"` // nil: looked every few seconds only
	Nodes    Nodes   `optional:"true"` // nil: there is no other process, and every way is here
	Box      *secret.Box
	Logger   *slog.Logger
	Workers  *worker.Metrics `optional:"true"`
}

// Ways chooses the way out of each delivery, by what was set up. Safe for concurrent use.
type Ways struct {
	config   Config
	accounts Accounts
	signals  Signals
	log      *slog.Logger

	mutex   sync.Mutex
	known   *snapshot // nil before Start
	reading sync.Mutex
	reader  *reader // while reading

	gained chan struct{}
	tasks  *worker.Tasks
}

// NewWays makes Ways; Start reads the configuration and keeps it fresh.
func NewWays(p WaysParams) (*Ways, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	config := p.Config.withDefaults()
	return &Ways{config: config, accounts: p.Accounts, signals: p.Signals, log: p.Logger, tasks: worker.NewTasks(p.Logger, p.Workers), gained: make(chan struct{}, 1),
		reader: &reader{db: p.DB, box: p.Box, log: p.Logger, nodes: p.Nodes, goneAfter: config.GoneAfter}}, nil
}

// Start reads the configuration, warns of addresses that this machine does not have,
// and reads again whenever something was changed.
func (w *Ways) Start(ctx context.Context) error {
	// Subscribed first, so that no change falls in between.
	var changed <-chan struct{}
	unsubscribe := func() {}
	if w.signals != nil {
		changed, unsubscribe = w.signals.Subscribe(configChannel)
	}
	if err := w.read(ctx); err != nil {
		unsubscribe()
		return fmt.Errorf("ways out: %w", err)
	}
	w.checkAddresses(ctx)
	// What was not heard of is found a few seconds later.
	w.tasks.Start(worker.Task{Name: "reading of the ways out", First: w.config.ReadEvery, Woken: changed, After: unsubscribe,
		Step: func(ctx context.Context) (time.Duration, error) { return w.config.ReadEvery, w.read(ctx) }})
	return nil
}

// Gained holds a wake when what waits for a way that another process had may be for this one: the source was moved, or
// the other process is gone. It is for one reader.
func (w *Ways) Gained() <-chan struct{} { return w.gained }

// Stop ends the reading.
func (w *Ways) Stop(ctx context.Context) error {
	w.tasks.Stop(ctx)
	return nil
}

// checkAddresses warns once of addresses that neither this machine nor another process has.
func (w *Ways) checkAddresses(ctx context.Context) {
	w.mutex.Lock()
	sources := w.known.sources
	w.mutex.Unlock()
	for _, src := range sources {
		lacks := src.reach > away
		if w.reader.nodes == nil {
			lacks = !machine.Interfaces{}.Has(src.addr)
		}
		if lacks && !src.paused {
			w.log.WarnContext(ctx, "this machine does not have a source address, and no other process has: mail waits for one that has it, or leaves by another", telemetry.KeyAddress, src.addr, "pool", src.pool, "node", src.node)
		}
	}
}
