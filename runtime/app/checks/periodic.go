package checks

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/graph"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/ops/doctor"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/ops/store"
)

const (
	firstLook = 3 * time.Second // after the listeners have started
	lookAgain = 6 * time.Hour
	lookSoon  = 10 * time.Minute // while there are findings
)

// periodicChecks repeats the checks of a doctor inside the service.
type periodicChecks struct {
	params Params
	log    *slog.Logger
	latest atomic.Pointer[doctor.Report]
}

// RunRepeatedly runs the doctor after the start and then regularly, in production. A finding is logged when it is
// new, reported by GET /readyz and counted in the metrics. The names are those that POSTRIDER_MODULES
// accepts.
func RunRepeatedly(modules []string) fx.Option {
	return fx.Options(
		fx.Supply(moduleNames(modules)),
		fx.Provide(newVisits),
		fx.Provide(fx.Annotate(func(v *periodicChecks) graph.ServiceSet {
			return graph.ServiceSet{Module: "accounts", Set: func(p *graph.Parts) { p.Doctor = v }}
		}, fx.ResultTags(`group:"graph"`))),
		module.ProvideHealth(func(v *periodicChecks) module.Health {
			return module.Health{Name: "doctor",
				Ask: v.condition}
		}),
	)
}

type moduleNames []string

func newVisits(lc fx.Lifecycle, modules moduleNames, cfg setting.Values, s *store.Store, resolver *dnsx.Resolver,
	reg prometheus.Registerer, workers *worker.Metrics, log *slog.Logger) (*periodicChecks, error) {
	v := &periodicChecks{params: Params{Config: cfg, Resolver: resolver, DB: s.DB, Box: s.Box, Modules: modules},
		log: log}
	for _, level := range []doctor.Level{doctor.Warning, doctor.Error} {
		gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: telemetry.Namespace, Name: "doctor_findings",
			Help:        "Findings of the latest run of the postrider doctor checks, by level.",
			ConstLabels: prometheus.Labels{"level": level.String()}}, func() float64 { return float64(v.count(level)) })
		if err := reg.Register(gauge); err != nil {
			return nil, err
		}
	}
	if err := reg.Register(v); err != nil {
		return nil, err
	}
	tasks := worker.NewTasks(log, workers)
	lc.Append(fx.StartStopHook(func() { tasks.Start(worker.Task{Name: "doctor", First: firstLook, Step: v.step}) },
		tasks.Stop))
	return v, nil
}

var badCheck = prometheus.NewDesc("postrider_doctor_check",
	"Checks of the latest run of postrider doctor that found a problem: 1 is a warning, 2 an error.",
	[]string{"check"}, nil)

// Describe implements prometheus.Collector.
func (*periodicChecks) Describe(out chan<- *prometheus.Desc) { out <- badCheck }

// Collect implements prometheus.Collector.
func (v *periodicChecks) Collect(out chan<- prometheus.Metric) {
	report := v.latest.Load()
	if report == nil {
		return
	}
	worst := map[string]float64{}
	for _, f := range report.Problems() {
		level := 1.0
		if f.Level == doctor.Error {
			level = 2
		}
		worst[f.Check] = max(worst[f.Check], level)
	}
	for check, level := range worst {
		out <- prometheus.MustNewConstMetric(badCheck, prometheus.GaugeValue, level, check)
	}
}

// Problems returns the findings of the latest run that are not OK.
func (v *periodicChecks) Problems() (all []graph.InstallationFinding) {
	report := v.latest.Load()
	if report == nil {
		return nil
	}
	for _, f := range report.Problems() {
		all = append(all, graph.InstallationFinding{Check: f.Check, Level: f.Level.String(), Found: f.Found,
			Expected: f.Expected, Do: f.Do})
	}
	return all
}

func (v *periodicChecks) count(l doctor.Level) int {
	report := v.latest.Load()
	if report == nil {
		return 0
	}
	return report.Count(l)
}

func (v *periodicChecks) step(ctx context.Context) (time.Duration, error) {
	d, err := New(ctx, v.params)
	if err != nil {
		return lookSoon, err
	}
	report := d.Run(ctx)
	if err := ctx.Err(); err != nil {
		return lookSoon, err
	}
	known := map[string]bool{}
	if before := v.latest.Swap(&report); before != nil {
		for _, f := range before.Problems() {
			known[f.Check+f.Found] = true
		}
	}
	for _, f := range report.Problems() {
		if known[f.Check+f.Found] {
			continue
		}
		level := slog.LevelWarn
		if f.Level == doctor.Error {
			level = slog.LevelError
		}
		v.log.Log(ctx, level, "doctor: check "+f.Check+" failed", "check", f.Check, "found", f.Found, "expected",
			f.Expected, "do", f.Do)
	}
	if report.Level >= doctor.Warning {
		return lookSoon, nil
	}
	return lookAgain, nil
}

// condition returns the line of GET /readyz. A finding does not remove a process from a load balancer.
func (v *periodicChecks) condition(context.Context) (module.Condition, error) {
	report := v.latest.Load()
	if report == nil {
		return module.Condition{}, nil
	}
	c := module.Condition{Degraded: report.Level == doctor.Error,
		Figures: map[string]float64{"errors": float64(report.Count(doctor.Error)),
			"warnings": float64(report.Count(doctor.Warning))}}
	for _, f := range report.Problems() {
		c.Details = append(c.Details, f.Level.String()+" "+f.Check+": found "+f.Found+". "+f.Do)
	}
	return c, nil
}
