package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"
	"go.uber.org/fx/fxevent"

	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/runtime/app/checks"
	"github.com/postrider/postrider/runtime/app/development"
	"github.com/postrider/postrider/runtime/app/listeners"
	"github.com/postrider/postrider/runtime/app/outgoing"
	"github.com/postrider/postrider/runtime/app/probes"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/returnpath"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/diskroom"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/egress"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/web/ratelimit"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// Foundation contains the parts that exist before the modules are assembled and after they stop.
type Foundation struct {
	Config   setting.Values
	Options  Options
	Modules  []Module
	Store    *store.Store
	Listener net.Listener
	Logger   *slog.Logger
	Draining *atomic.Bool // set once a stop was requested
	Fail     func(error)  // stops the service after a required part has failed
}

// New assembles the enabled modules in five steps. Hooks only start and stop parts. Fx runs the stop hooks in
// reverse order, so HTTP, which is added last, stops first.
func New(f Foundation, more ...fx.Option) *fx.App {
	logged := fx.WithLogger(func() fxevent.Logger {
		l := &fxevent.SlogLogger{Logger: f.Logger}
		l.UseLogLevel(slog.LevelDebug)
		return l
	})
	return fx.New(append(f.options(more...), logged)...)
}

// options returns everything for Fx. Apart from the modules, the options are the same for every set of
// modules; each module contributes what its row lists (Module.options).
func (f Foundation) options(more ...fx.Option) []fx.Option {
	options := []fx.Option{
		fx.StartTimeout(startTimeout), fx.StopTimeout(drainTimeout),
		// 1. Values from the caller.
		fx.Supply(f.Config, f.Options, f.Logger, modulesOn(f.names()), event.Offer(f.names()), module.On(f.names())),
		fx.Provide(
			func() *store.Store { return f.Store },
			func() *db.DB { return f.Store.DB },
			func() *secret.Box { return f.Store.Box },
			func() *page.Codec { return f.Store.Cursors() },
		),
		// 2. Observation.
		fx.Provide(newRegistry, newTracing, worker.NewMetrics),
		// 3. The runtime: bus, idempotency, names, outgoing transport.
		fx.Provide(newSignals, newClockWatch, newNode, newBus, newIdempotency, newResolver, newGuard,
			outgoing.NewTransport, newReturnPaths, newFileLinks, newRateLimit, smtpserver.NewMetrics, listeners.NewTLS,
			listeners.NewInbound, newIntake, newDiskWatch, newObjects, newSecured, keeperOf, newRoutes),
		fx.Invoke(keepHouse, watchClock, followMoves),
		probes.Hold, probes.Clock, probes.Backups(config.BackupDir.Get(f.Config)), probes.Replica(!config.ReplicaURL.Get(f.Config).IsZero()),
	}
	if f.Config.Mode == setting.Serve { // development mode does not check its surroundings
		options = append(options, checks.RunRepeatedly(ModuleNames(false)))
	} else {
		options = append(options, development.Shown,
			fx.Provide(func() development.OwnURL { return development.ReachOf(f.Listener) }))
	}
	// 4. The enabled modules.
	for _, m := range f.Modules {
		options = append(options, m.options(f.names()))
	}
	// 5. The listener for mail servers, then the edges of the enabled modules; HTTP is last.
	return append(append(options, fx.Invoke(func(*listeners.Inbound) {}), provideEdges(f)), more...)
}

func newRegistry(o Options) (*prometheus.Registry, prometheus.Registerer) {
	r := telemetry.NewRegistry(o.Version)
	return r, r
}

func newTracing(lc fx.Lifecycle, cfg setting.Values, o Options) (*telemetry.Tracing, error) {
	if o.Tracing != nil {
		return o.Tracing, nil
	}
	t, err := telemetry.NewTracing(context.Background(), config.TraceEndpoint.Get(cfg), o.Version)
	if err == nil {
		lc.Append(fx.StopHook(t.Shutdown))
	}
	return t, err
}

// newDiskWatch watches the disk of the database. Development mode with the embedded server rejects nothing:
// its disk is a developer's machine.
func newDiskWatch(lc fx.Lifecycle, cfg setting.Values, d *db.DB, reg prometheus.Registerer, workers *worker.Metrics,
	log *slog.Logger) (*diskroom.Sampler, storage.Disk, error) {
	where := checks.DiskConfig(cfg)
	if cfg.Mode == setting.Dev && config.IsEmbedded(cfg) {
		where = diskroom.Config{}
	}
	w, err := diskroom.New(diskroom.Params{Config: where, DB: d, DatabaseURL: config.DatabaseURL.Get(cfg).Reveal(),
		Logger: log, Registry: reg, Workers: workers})
	if err == nil {
		lc.Append(fx.StartStopHook(w.Start, w.Stop))
	}
	return w, w, err
}

// newIntake creates the process-wide memory budget for large bodies and responses.
func newIntake(cfg setting.Values, reg prometheus.Registerer, log *slog.Logger) (*intake.Budget, error) {
	b, err := intake.New(intake.Config{Dir: config.SpoolDir.Get(cfg), Spool: int64(config.SpoolBytes.Get(cfg)),
		Memory: usableMemory(), Logger: log})
	if err != nil {
		return nil, fmt.Errorf("POSTRIDER_SPOOL_DIR: %w", err)
	}
	return b, b.Register(reg)
}

func newSignals(lc fx.Lifecycle, d *db.DB, log *slog.Logger) (*db.Signals, error) {
	s, err := db.NewSignals(d, log)
	if err == nil {
		lc.Append(fx.StopHook(s.Close))
	}
	return s, err
}

func newBus(lc fx.Lifecycle, d *db.DB, signals *db.Signals, reg prometheus.Registerer, workers *worker.Metrics,
	log *slog.Logger) *bus.Bus {
	b := bus.New(d, log, bus.Options{Signals: signals, Registerer: reg, Workers: workers})
	lc.Append(fx.StartStopHook(b.Start, b.Stop))
	return b
}

func newIdempotency(lc fx.Lifecycle, d *db.DB, workers *worker.Metrics, log *slog.Logger) (*idempotency.Store, error) {
	s, err := idempotency.New(idempotency.Params{DB: d.Hot, Logger: log, Workers: workers})
	if err == nil {
		lc.Append(fx.StartStopHook(s.Start, s.Stop))
	}
	return s, err
}

func newRateLimit(lc fx.Lifecycle, d *db.DB, workers *worker.Metrics, log *slog.Logger) (*ratelimit.Limiter, error) {
	l, err := ratelimit.New(ratelimit.Params{DB: d, Logger: log, Workers: workers})
	if err == nil {
		lc.Append(fx.StartStopHook(l.Start, l.Stop))
	}
	return l, err
}

func newResolver(cfg setting.Values, log *slog.Logger) (*dnsx.Resolver, error) {
	return dnsx.New(dnsx.Config{Server: config.DNSServer.Get(cfg), Logger: log})
}

func newGuard(cfg setting.Values) *egress.Guard { return egress.NewGuard(outgoing.MXAllow.Get(cfg)) }

func newReturnPaths(box *secret.Box) (*returnpath.Signer, error) {
	return returnpath.New(box.DeriveEach("return path")...)
}
