package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"go.uber.org/dig"
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/app/development"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/web/server"
	"github.com/postrider/postrider/runtime/work/node/machine"
)

// Options are the inputs of a run in addition to its configuration.
type Options struct {
	Version   string
	ReadyFile string                    // development mode: written after all listeners have started
	OnReady   func(development.Ready)   // development mode: called at the same time; can be nil
	Out       io.Writer                 // human-readable output
	Log       io.Writer                 // for the log
	Strays    []setting.UnknownVariable // unknown environment variables to warn about
	Tracing   *telemetry.Tracing        // nil: as configured
	Machine   machine.Addresses         // nil: the interfaces of this machine
	More      []fx.Option               // for tests: added last
}

const (
	startTimeout = 2 * time.Minute // embedded PostgreSQL, migrations, key generation
	// Most of store.StopLimit is for draining, the rest for the database.
	drainTimeout = 23 * time.Second
)

// Run runs the service from start to stop: it returns after parent is done and everything has drained, or
// after a required part has failed. If parent is done during the start, Run returns no error.
func Run(parent context.Context, cfg setting.Values, o Options) (err error) {
	ctx, fail := context.WithCancelCause(parent)
	defer fail(nil)
	lines := telemetry.NewJoinedWriter(o.Log)
	defer func() { err = errors.Join(err, lines.Flush()) }()
	log := telemetry.JoinedLines(telemetry.NewLogger(config.LogFormat.Get(cfg), config.LogLevel.Get(cfg), lines), lines)
	boundMemory(ctx, log)
	// 1. Select the modules. Report configuration mistakes before any side effect.
	modules, err := selectModules(cfg)
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "configuration", telemetry.KeyVersion, o.Version, telemetry.KeyConfig, cfg)
	for _, stray := range o.Strays {
		log.WarnContext(ctx, stray.String())
	}
	// 2. Listen, so that a port in use is reported before a database is started.
	listener, err := server.Listen(ctx, config.HTTPAddr.Get(cfg))
	if err != nil {
		return err
	}
	defer closeListener(listener, log)
	if config.BaseURL.Get(cfg) == "" {
		cfg = config.BaseURL.Override(cfg, "http://"+listener.Addr().String())
	}
	// 3. Open the database, embedded or external, and migrate it.
	opened, err := store.Open(ctx, cfg, log)
	if err != nil {
		return ignoreCancellation(parent, log, err)
	}
	end := ending{log: log}
	defer func() { end.finish(opened, err) }()
	// 4. Assemble the modules and start them.
	var seeds development.Seeder
	var draining atomic.Bool
	app := New(Foundation{Config: cfg, Options: o, Modules: modules, Store: opened, Listener: listener, Logger: log,
		Draining: &draining, Fail: fail}, append(o.More, fx.Invoke(func(s development.Seeder) { seeds = s }))...)
	if err := app.Err(); err != nil {
		// without the list of constructors, which does not help an operator
		return fmt.Errorf("assemble: %w", dig.RootCause(err))
	}
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := app.Start(starting); err != nil {
		return ignoreCancellation(parent, log, fmt.Errorf("start: %w", err))
	}
	// 5. Print all addresses; development mode seeds an account.
	if err := announceReady(ctx, cfg, o, opened, seeds, log); err != nil {
		return errors.Join(ignoreCancellation(parent, log, err), stopApp(app, drainTimeout))
	}
	returnMemory(ctx, log)
	told := make(chan struct{})
	go func() {
		reportToSystemd(ctx, log)
		close(told)
	}()
	defer func() { <-told }()
	// 6. Run until a stop is requested or a required part fails.
	<-ctx.Done()
	failed := context.Cause(ctx)
	if parent.Err() != nil {
		failed = nil
	}
	end.begin()
	// 7. Report not ready and keep serving for a while, so that load balancers notice.
	draining.Store(true)
	delay := config.DrainDelay.Get(cfg)
	if failed != nil {
		delay = 0
	}
	<-time.After(delay)
	// 8. Drain, in the reverse order of the start. The deferred calls above stop the database last.
	return errors.Join(failed, stopApp(app, drainTimeout-delay))
}

// ignoreCancellation filters the error of a startup step. It returns nil once parent is done: an interrupted step
// reports the cancellation in different ways (PostgreSQL a canceled statement, initdb a signal), and the next start
// repeats the step. The error is logged.
func ignoreCancellation(parent context.Context, log *slog.Logger, err error) error {
	if parent.Err() == nil {
		return err
	}
	log.Info("stopped while it was starting", telemetry.KeyError, err)
	return nil
}

// ending is the last phase of a run: it logs when it starts and when it is over.
type ending struct {
	log   *slog.Logger
	began time.Time // zero if the start failed
}

func (e *ending) begin() {
	e.began = time.Now()
	e.log.Info("stopping: waiting for requests and deliveries in progress", "limit", store.StopLimit)
}

// finish closes the store within the remaining time, and closes the log.
func (e *ending) finish(s *store.Store, err error) {
	if e.began.IsZero() {
		s.Close(e.log, store.StopLimit)
		e.log.Info("stopped before the service was ready")
		return
	}
	s.Close(e.log, store.StopLimit-time.Since(e.began))
	took := time.Since(e.began).Round(time.Millisecond)
	if err != nil {
		e.log.Error("stopped with work unfinished; accepted mail is stored and continues at the next start", "duration",
			took, telemetry.KeyError, err)
		return
	}
	e.log.Info("stopped: all work finished", "duration", took)
}

func stopApp(app *fx.App, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := app.Stop(ctx); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}

func selectModules(cfg setting.Values) ([]Module, error) {
	dev := cfg.Mode == setting.Dev
	on, err := config.ParseModules(config.Modules.Get(cfg), ModuleNames(dev))
	if err != nil {
		return nil, err
	}
	return Select(on, dev)
}

// closeListener matters only if the start failed before serving.
func closeListener(l net.Listener, log *slog.Logger) {
	if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		log.Warn("close listener", telemetry.KeyError, err)
	}
}
