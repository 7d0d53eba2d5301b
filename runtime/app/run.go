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
	"github.com/postrider/postrider/runtime/ops/systemd"
	"github.com/postrider/postrider/runtime/web/server"
	"github.com/postrider/postrider/runtime/work/node/machine"
)

// Options are what a run needs beside its configuration.
type Options struct {
	Version   string
	ReadyFile string                    // development mode: written once everything listens
	OnReady   func(development.Ready)   // development mode: called then; may be nil
	Out       io.Writer                 // for people
	Log       io.Writer                 // for the log
	Strays    []setting.UnknownVariable // variables of the environment to warn of
	Tracing   *telemetry.Tracing        // nil: as the configuration says
	Machine   machine.Addresses         // nil: the interfaces of this machine
	More      []fx.Option               // of tests: joined last
}

const (
	startTimeout = 2 * time.Minute // embedded PostgreSQL, migrations, key generation
	// Most of store.StopLimit is for draining, the rest for the database.
	drainTimeout = 23 * time.Second
)

// Run is a whole life of the service: it returns when parent ends and everything has
// drained, or when something that it cannot do without has failed. A parent that ends
// during the start is no failure.
func Run(parent context.Context, cfg setting.Values, o Options) (err error) {
	ctx, fail := context.WithCancelCause(parent)
	defer fail(nil)
	lines := telemetry.NewJoinedWriter(o.Log)
	defer func() { err = errors.Join(err, lines.Flush()) }()
	log := telemetry.JoinedLines(telemetry.NewLogger(config.LogFormat.Of(cfg), config.LogLevel.Of(cfg), lines), lines)
	boundMemory(ctx, log)
	// 1. What is to run? Mistakes first, before anything is touched.
	modules, err := selectModules(cfg)
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "configuration", telemetry.KeyVersion, o.Version, telemetry.KeyConfig, cfg)
	for _, stray := range o.Strays {
		log.WarnContext(ctx, stray.String())
	}
	// 2. The address, so that a taken port is known before a database is started.
	listener, err := server.Listen(ctx, config.HTTPAddr.Of(cfg))
	if err != nil {
		return err
	}
	defer closeListener(listener, log)
	if config.BaseURL.Of(cfg) == "" {
		cfg = config.BaseURL.With(cfg, "http://"+listener.Addr().String())
	}
	// 3. The database: ours or another's, migrated.
	opened, err := store.Open(ctx, cfg, log)
	if err != nil {
		return cutShort(parent, log, err)
	}
	end := ending{log: log}
	defer func() { end.of(opened, err) }()
	// 4. Join the modules and start them.
	var seeds development.Seeder
	var draining atomic.Bool
	app := New(Foundation{Config: cfg, Options: o, Modules: modules, Store: opened, Listener: listener, Logger: log, Draining: &draining, Fail: fail}, append(o.More, fx.Invoke(func(s development.Seeder) { seeds = s }))...)
	if err := app.Err(); err != nil {
		return fmt.Errorf("assemble: %w", dig.RootCause(err)) // without the list of constructors, which says nothing to an operator
	}
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := app.Start(starting); err != nil {
		return cutShort(parent, log, fmt.Errorf("start: %w", err))
	}
	// 5. Say where everything is; in development mode there is an account to use.
	if err := announceReady(ctx, cfg, o, opened, seeds, log); err != nil {
		return errors.Join(cutShort(parent, log, err), stopApp(app, drainTimeout))
	}
	returnMemory()
	told := make(chan struct{})
	go func() {
		systemd.Run(ctx, log)
		close(told)
	}()
	defer func() { <-told }()
	// 6. Until somebody says stop, or a part that we need ends.
	<-ctx.Done()
	failed := context.Cause(ctx)
	if parent.Err() != nil {
		failed = nil
	}
	end.begin()
	// 7. Say so, and go on for a while, so that a load balancer has time to look.
	draining.Store(true)
	delay := config.DrainDelay.Of(cfg)
	if failed != nil {
		delay = 0
	}
	<-time.After(delay)
	// 8. Drain, in the reverse order of the start. The deferred calls above stop
	// the database last.
	return errors.Join(failed, stopApp(app, drainTimeout-delay))
}

// cutShort is the error of a step of the start. Once parent has ended there is none:
// what was cut off says so in its own words (PostgreSQL a canceled statement, initdb a
// signal), and the next start does it again. The words go to the log.
func cutShort(parent context.Context, log *slog.Logger, err error) error {
	if parent.Err() == nil {
		return err
	}
	log.Info("stopped while it was starting", telemetry.KeyError, err)
	return nil
}

// ending is the last part of a life: it says when it begins and when it is over.
type ending struct {
	log   *slog.Logger
	began time.Time // zero when the start did not succeed
}

func (e *ending) begin() {
	e.began = time.Now()
	e.log.Info("stopping: requests and deliveries that have begun may end", "limit", store.StopLimit)
}

// of closes the store with what is left of the time, and closes the log.
func (e *ending) of(s *store.Store, err error) {
	if e.began.IsZero() {
		s.Close(e.log, store.StopLimit)
		e.log.Info("stopped before it was ready")
		return
	}
	s.Close(e.log, store.StopLimit-time.Since(e.began))
	took := time.Since(e.began).Round(time.Millisecond)
	if err != nil {
		e.log.Error("stopped, and not everything could end; what was accepted is stored and goes on at the next start", "duration", took, telemetry.KeyError, err)
		return
	}
	e.log.Info("stopped: everything has ended", "duration", took)
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
	on, err := config.ParseModules(config.Modules.Of(cfg), ModuleNames(dev))
	if err != nil {
		return nil, err
	}
	return Select(on, dev)
}

// closeListener matters only when the start did not get as far as serving.
func closeListener(l net.Listener, log *slog.Logger) {
	if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		log.Warn("close listener", telemetry.KeyError, err)
	}
}
