package app

import (
	"log/slog"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/moves"
	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/modules/relay"
	"github.com/postrider/postrider/modules/sending/delivery"
	"github.com/postrider/postrider/modules/sending/release"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/tracking/linkrules"
	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/node"
)

// modulesOn are the names of the modules that run in this process.
type modulesOn []string

// newNode registers this process with the others. Modules that claim jobs depend on it, so that it starts
// before them and stops after them.
func newNode(lc fx.Lifecycle, cfg setting.Values, o Options, on modulesOn, d *db.DB, signals *db.Signals,
	clockWatch *clockstep.Watch, workers *worker.Metrics, reg prometheus.Registerer,
	log *slog.Logger) (*node.Node, error) {
	n, err := node.New(node.Params{DB: d, Signals: signals, Name: config.Node.Get(cfg), Version: o.Version,
		Roles: rolesOf(on, config.DeliveryConcurrency.Get(cfg)), Egress: config.Egress.Get(cfg),
		Cell: config.Cell.Get(cfg), Machine: o.Machine, Logger: log, Workers: workers, Correct: clock.SetOffset, Observe: clockWatch.Observe})
	if err == nil {
		err = n.Register(reg)
		lc.Append(fx.StartStopHook(n.Start, n.Stop))
	}
	return n, err
}

// rolesOf returns the roles of a process with these modules and this number of concurrent deliveries.
func rolesOf(on modulesOn, concurrency int) []string {
	roles := []string{node.Accepts}
	if concurrency == 0 {
		return roles
	}
	if slices.Contains(on, "sending") {
		roles = append(roles, node.Delivers)
	}
	if slices.Contains(on, "webhooks") {
		roles = append(roles, node.Webhooks)
	}
	return roles
}

// accountsConfig returns the plan of new accounts, and whether they can have test keys.
func accountsConfig(cfg setting.Values, on modulesOn) accounts.Config {
	return accounts.Config{DefaultPlan: billing.DefaultPlan(cfg), NoTestMode: !slices.Contains(on, "testmode")}
}

// sendingConfig returns the settings of accepting and of delivering. A process without deliveries only
// accepts.
func sendingConfig(cfg setting.Values) (release.Config, delivery.Config) {
	c := delivery.DefaultConfig()
	c.Concurrency = config.DeliveryConcurrency.Get(cfg)
	return release.Config{AcceptOnly: c.Concurrency == 0}, c
}

func newClockWatch(d *db.DB, workers *worker.Metrics, reg prometheus.Registerer,
	log *slog.Logger) (*clockstep.Watch, error) {
	w := clockstep.New(clockstep.Params{DB: d, Logger: log, Workers: workers})
	return w, w.Register(reg)
}

// followParams are the dependencies of followMoves.
type followParams struct {
	fx.In

	Lifecycle fx.Lifecycle
	DB        *db.DB
	Signals   *db.Signals
	Node      *node.Node
	Accounts  *accounts.Service
	SignIn    *signin.Service    `optional:"true"`
	Relay     *relay.Credentials `optional:"true"`
	Links     *linkrules.Rules   `optional:"true"`
	Logger    *slog.Logger
	Workers   *worker.Metrics
}

// followMoves makes this process notice the steps of an account's move at once.
func followMoves(p followParams) {
	f := moves.Follower{DB: p.DB, Signals: p.Signals, Node: p.Node, Forget: []func(){p.Accounts.ForgetAll}}
	if p.SignIn != nil {
		f.Forget = append(f.Forget, p.SignIn.ForgetSessions)
	}
	if p.Relay != nil {
		f.Forget = append(f.Forget, p.Relay.Forget)
	}
	if p.Links != nil {
		f.Reload = append(f.Reload, p.Links.Reload)
	}
	tasks := worker.NewTasks(p.Logger, p.Workers)
	p.Lifecycle.Append(fx.StartStopHook(func() { tasks.Start(f.Task()) }, tasks.Stop))
}

// clockParams are the dependencies of watchClock.
type clockParams struct {
	fx.In

	Lifecycle fx.Lifecycle
	Watch     *clockstep.Watch
	Node      *node.Node
	Bus       *bus.Bus
	Repairs   []clockstep.Repair `group:"repairs"`
}

// watchClock starts the watch after the modules whose rows it repairs.
func watchClock(p clockParams) {
	p.Watch.Add(clockstep.Repair{What: "processes", Run: p.Node.RepairTimes}, p.Bus.ClockRepair(),
		idempotency.ClockRepair)
	p.Watch.Add(p.Repairs...)
	p.Lifecycle.Append(fx.StartStopHook(p.Watch.Start, p.Watch.Stop))
}
