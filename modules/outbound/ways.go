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
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/node/machine"
)

// Signals wakes this process after a configuration change.
type Signals interface {
	Subscribe(channel string) (<-chan struct{}, func())
}

// TestMail receives the mail of test mode instead of the recipients' servers.
type TestMail interface {
	TestWay(tenantID string) smtpclient.Way
}

// WaysParams contains the parameters of NewWays.
type WaysParams struct {
	fx.In

	Config   Config
	DB       *db.DB
	Accounts Accounts
	TestMail TestMail `optional:"true"` // see Config
	Signals  Signals  `optional:"true"` // if nil, Ways only polls every few seconds
	Nodes    Nodes    `optional:"true"` // if nil, this is the only process, and every way is local
	Box      *secret.Box
	Logger   *slog.Logger
	Workers  *worker.Metrics `optional:"true"`
}

// Ways chooses the way of each delivery from the configuration. It is safe for concurrent use.
type Ways struct {
	config   Config
	accounts Accounts
	signals  Signals
	log      *slog.Logger

	mutex   sync.Mutex
	known   *snapshot // nil before Start
	reading sync.Mutex
	reader  *reader // used by one read at a time

	gained chan struct{}
	tasks  *worker.Tasks
}

// NewWays returns new Ways. Start reads the configuration and keeps it up to date.
func NewWays(p WaysParams) (*Ways, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	config := p.Config.withDefaults()
	config.testMail = p.TestMail
	return &Ways{config: config, accounts: p.Accounts, signals: p.Signals, log: p.Logger,
		tasks: worker.NewTasks(p.Logger, p.Workers), gained: make(chan struct{}, 1),
		reader: &reader{db: p.DB, box: p.Box, log: p.Logger, nodes: p.Nodes, goneAfter: config.GoneAfter}}, nil
}

// Start reads the configuration, warns about addresses that this machine does not have, and reads again
// after every change.
func (w *Ways) Start(ctx context.Context) error {
	// Subscribe first, so that no change is missed in between.
	var changed <-chan struct{}
	unsubscribe := func() {}
	if w.signals != nil {
		changed, unsubscribe = w.signals.Subscribe(configChannel)
	}
	if err := w.read(ctx); err != nil {
		unsubscribe()
		return fmt.Errorf("outbound routes: %w", err)
	}
	w.checkAddresses(ctx)
	// If a notification is missed, the next poll corrects it a few seconds later.
	w.tasks.Start(worker.Task{Name: "reading of the ways out", First: w.config.ReadEvery, Woken: changed,
		After: unsubscribe,
		Step:  func(ctx context.Context) (time.Duration, error) { return w.config.ReadEvery, w.read(ctx) }})
	return nil
}

// GainedWays receives a value when this process may take the mail queued for a way of another process: the source
// was moved, or the other process died. It supports one reader.
func (w *Ways) GainedWays() <-chan struct{} { return w.gained }

// Stop stops reading the configuration.
func (w *Ways) Stop(ctx context.Context) error {
	w.tasks.Stop(ctx)
	return nil
}

// checkAddresses warns once about addresses that neither this machine nor another process has.
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
			w.log.WarnContext(ctx, "no machine has a source address; its mail waits or uses another address",
				telemetry.KeyAddress, src.addr, "pool", src.pool, "node", src.node)
		}
	}
}
