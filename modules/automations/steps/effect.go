package steps

import (
	"context"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/proof"
	"github.com/postrider/postrider/modules/automations/simulation"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sms"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/db"
)

// effect is how the steps of one type act outside the run. Each type that does so has a file of
// its own, named after it, which registers its effect. The fields of the type are in the file of
// the same name in package definition, and rendering them is in that of package machine.
type effect interface {
	// check reports what would keep a step from acting. It runs before the activation.
	check(ctx context.Context, c Check) error
	// preview returns what the effect of the step with a key would do. The outcome replaces
	// success: "", simulation.OutcomeSuppressed or simulation.OutcomeError.
	preview(
		ctx context.Context, caller accounts.Caller, key string, e machine.Effect, outcome string,
	) (simulation.Performed, error)
	// perform performs the effect of a taken step.
	perform(ctx context.Context, t *taken) result
}

var constructors = map[string]func(*services) effect{}

// register adds the effect of a step type.
func register(name string, create func(*services) effect) bool { //nolint:unparam // the result lets `var _ =` call it
	constructors[name] = create
	return true
}

func newEffects(s *services) map[string]effect {
	effects := make(map[string]effect, len(constructors))
	for name, make := range constructors {
		effects[name] = make(s)
	}
	return effects
}

// Domains looks up the identity under which an account may send from an address.
type Domains interface {
	Identity(ctx context.Context, accountID string, from address.Address) (domains.SigningIdentity, error)
}

// Templates looks up templates.
type Templates interface {
	Get(ctx context.Context, accountID, idOrAlias string) (templates.Template, error)
	Version(ctx context.Context, accountID, idOrAlias string, number int) (*ent.TemplateVersion, error)
	LockForUse(ctx context.Context, on db.Execer, accountID, id, alias string) (exists bool, err error)
}

// Sender accepts emails, or previews them without storing anything.
type Sender interface {
	Send(ctx context.Context, caller accounts.Caller, r sending.Request) (sending.Receipt, error)
	Preview(ctx context.Context, caller accounts.Caller, m sending.Message) (sending.Preview, error)
}

// Texter stores text messages in a transaction, and hands them over after it. Problem returns why
// an account cannot send any.
type Texter interface {
	Send(ctx context.Context, tx db.Execer, accountID string, m sms.Message, guard sms.StoreGuard) (sms.Receipt, error)
	Wake()
	Problem(ctx context.Context, accountID string) (string, error)
	Preview(ctx context.Context, accountID string, m sms.Message) (sms.Preview, error)
}

// Modules are the modules through which steps act.
type Modules struct {
	fx.In

	Domains   Domains
	Templates Templates
	Sender    Sender
	Texter    Texter `optional:"true"` // nil if the module sms is off
}

// services is what effects need.
type services struct {
	Modules

	config Config
	db     *db.DB
	bus    ingest.Bus
	prover *proof.Prover
	nudge  func() // makes the worker look for due steps again
}

// Check asks what would keep a step from acting.
type Check struct {
	Caller    accounts.Caller // who would activate the automation
	Step      *definition.Step
	LookUntil time.Time                   // when lookups of names in the DNS must end
	Report    func(field, problem string) // prevents the activation
	Warn      func(field, problem string) // may change before the step acts, or afterwards
}

// Check reports what would keep a step from acting. A step that does not act has no problems.
func (s *Service) Check(ctx context.Context, c Check) error {
	if e, acts := s.effects[c.Step.Type]; acts {
		return e.check(ctx, c)
	}
	return nil
}

// Preview returns what the effect of a step would do. The outcome replaces success: "",
// simulation.OutcomeSuppressed or simulation.OutcomeError.
func (s *Service) Preview(
	ctx context.Context, caller accounts.Caller, step *definition.Step, e machine.Effect, outcome string,
) (simulation.Performed, error) {
	return s.effects[step.Type].preview(ctx, caller, step.Key, e, outcome)
}

// refusedPreview is the result of a message that would not be stored. Other errors end the simulation.
func refusedPreview(err error) (simulation.Performed, error) {
	refused := fault.From(err)
	if refused.Kind == fault.Internal || refused.Kind == fault.Unavailable {
		return simulation.Performed{}, err
	}
	return simulation.Performed{Result: machine.Result{Status: machine.StatusFailed, Error: codeOf(refused) + ": " +
		refused.Error()}}, nil
}

// simulateSend returns the result of a message that would be stored.
func simulateSend(outcome string, m definition.Medium, output map[string]any) machine.Result {
	switch outcome {
	case simulation.OutcomeSuppressed:
		return machine.Result{Status: machine.StatusSuppressed, Output: output}
	case simulation.OutcomeError:
		return machine.Result{Status: machine.StatusFailed, Error: "simulated: the " + string(m) + " was refused"}
	}
	return machine.Result{Status: machine.StatusSent, Output: output}
}
