package module

import (
	"context"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/mail/smtpserver"
)

// Sweep deletes old rows of a module that has no clock of its own. It runs about once an
// hour in every process.
type Sweep struct {
	What string // as in "webhook deliveries"
	Run  func(ctx context.Context) (deleted int64, err error)
}

// Kept is what a module stores about an account's mail or about people.
type Kept struct {
	What string // as in "notes"
	// Acts says that what is stored acts by itself, as a run that sends. It is erased before all
	// else, so that nothing new comes of it, and once more with the rest.
	Acts bool
	// Purge deletes what is older than the account keeps its records.
	Purge func(ctx context.Context, accountID string, before time.Time) (deleted int64, err error)
	// Erase deletes what is stored of an address. Repeating it is harmless.
	Erase func(ctx context.Context, accountID, address string) (deleted int64, err error)
	// EraseUser deletes what is stored of somebody whom the account calls by a name of its own;
	// nil: nothing is kept under such names. Repeating it is harmless.
	EraseUser func(ctx context.Context, accountID, userID string) (deleted int64, err error)
}

// Health is one line of GET /readyz. A line that is not well is told, and takes nothing
// out of a load balancer.
type Health struct {
	Name string // as in "queue"
	Ask  func(ctx context.Context) (Condition, error)
}

// Condition is how a part of a module does.
type Condition struct {
	Off      bool // nobody has set the part up: nothing is told of it
	Degraded bool
	Figures  map[string]float64 // shown as name_figure, as in "queue_late_seconds"
	Details  []string           // what is not well or worth knowing, in words; told to requests of this machine only
}

// Recipients takes mail in for some addresses, on the listener that mail servers come to.
type Recipients struct {
	Handler smtpserver.Handler
	// Elsewhere is what RCPT answers for an address that is none of these; others are asked
	// then. The one without it is asked last, and its answer stands.
	Elsewhere error
}

// Drain is called when a stop begins to wait for HTTP requests that are open.
type Drain func()

// Repairs adds a clockstep.Repair: the constructor takes what Fx has and returns it.
func Repairs(constructor any) fx.Option { return give(constructor, "repairs") }

// Sweeps gives a Sweep: the constructor takes what Fx has and returns it.
func Sweeps(constructor any) fx.Option { return give(constructor, "sweeps") }

// Keeps gives a Kept.
func Keeps(constructor any) fx.Option { return give(constructor, "kept") }

// Healths gives a Health.
func Healths(constructor any) fx.Option { return give(constructor, "health") }

// Receives gives Recipients.
func Receives(constructor any) fx.Option { return give(constructor, "recipients") }

// Drains gives a Drain.
func Drains(constructor any) fx.Option { return give(constructor, "drains") }

// Drops gives a months.Unneeded.
func Drops(constructor any) fx.Option { return give(constructor, "unneeded") }

func give(constructor any, group string) fx.Option {
	return fx.Provide(fx.Annotate(constructor, fx.ResultTags(`group:"`+group+`"`)))
}
