package module

import (
	"context"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/mail/smtpserver"
)

// Sweep deletes old rows of a module that has no separate task for this. It runs about once an hour in
// every process.
type Sweep struct {
	What string // for example "webhook deliveries"
	Run  func(ctx context.Context) (deleted int64, err error)
}

// PersonalData is data that a module stores about an account's mail or about people.
type PersonalData struct {
	What string // for example "notes"
	// Active means that the stored data causes actions, like a run that sends mail does. It is erased before
	// all other data, so that it creates no new data, and once more with the rest.
	Active bool
	// Purge deletes data older than the account's retention period. It is nil for data that is kept regardless of it.
	Purge func(ctx context.Context, accountID string, before time.Time) (deleted int64, err error)
	// Erase deletes the data about an address. It can be repeated.
	Erase func(ctx context.Context, accountID, address string) (deleted int64, err error)
	// EraseUser deletes the data about a person whom the account identifies by its own user id. It can be
	// repeated. It is nil if no data is stored under such ids.
	EraseUser func(ctx context.Context, accountID, userID string) (deleted int64, err error)
}

// Health is one line of GET /readyz. An unhealthy line is reported, but does not take the process out of a
// load balancer.
type Health struct {
	Name string // for example "queue"
	Ask  func(ctx context.Context) (Condition, error)
}

// Condition is the state of a part of a module.
type Condition struct {
	Off      bool // the part is not configured, so it is not reported
	Degraded bool
	Figures  map[string]float64 // shown as name_figure, for example "queue_late_seconds"
	Details  []string           // problems and notes for humans; shown only to requests from this machine
}

// Recipients receives mail for some addresses on the listener for other mail servers.
type Recipients struct {
	Handler smtpserver.Handler
	// Elsewhere is the RCPT response for any other address, if no other Recipients accepts it. The Recipients
	// without Elsewhere are asked last, and their response is final.
	Elsewhere error
}

// Drain is called when a stop starts waiting for open HTTP requests.
type Drain func()

// ProvideRepair registers a constructor of a clockstep.Repair; its parameters are provided by Fx.
func ProvideRepair(constructor any) fx.Option { return provideInGroup(constructor, "repairs") }

// ProvideSweep registers a constructor of a Sweep; its parameters are provided by Fx.
func ProvideSweep(constructor any) fx.Option { return provideInGroup(constructor, "sweeps") }

// ProvidePersonalData registers a constructor of PersonalData.
func ProvidePersonalData(constructor any) fx.Option { return provideInGroup(constructor, "kept") }

// ProvideHealth registers a constructor of a Health.
func ProvideHealth(constructor any) fx.Option { return provideInGroup(constructor, "health") }

// ProvideRecipients registers a constructor of Recipients.
func ProvideRecipients(constructor any) fx.Option { return provideInGroup(constructor, "recipients") }

// ProvideDrain registers a constructor of a Drain.
func ProvideDrain(constructor any) fx.Option { return provideInGroup(constructor, "drains") }

// ProvideDropRule registers a constructor of a months.DropRule.
func ProvideDropRule(constructor any) fx.Option { return provideInGroup(constructor, "unneeded") }

func provideInGroup(constructor any, group string) fx.Option {
	return fx.Provide(fx.Annotate(constructor, fx.ResultTags(`group:"`+group+`"`)))
}
