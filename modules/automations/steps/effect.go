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

// effect implements the action of one type's steps outside the run. Each such type has a file, named after it,
// that registers its effect. The fields of the type are in the file of the same name in package definition, and
// their rendering in that of package machine.
type effect interface {
	// check reports obstacles to the step. It runs before activation.
	check(ctx context.Context, c StepCheck) error
	// preview returns the result that the effect of the step with a key would have. The outcome replaces
	// success: "", simulation.OutcomeSuppressed or simulation.OutcomeError.
	preview(
		ctx context.Context, caller accounts.Caller, key string, e machine.Effect, outcome string,
	) (simulation.EffectResult, error)
	// perform performs the effect of a claimed step.
	perform(ctx context.Context, t *claimedRun) result
}

var constructors = map[string]func(*services) effect{}

// registerEffect adds the effect of a step type.
func registerEffect(name string, create func(*services) effect) bool { //nolint:unparam // the result allows calls in `var _ =`
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

// Texter stores text messages in a transaction and submits them after it. Problem returns why an account cannot
// send any.
type Texter interface {
	Send(ctx context.Context, tx db.Execer, accountID string, m sms.Message, guard sms.StoreGuard) (sms.Receipt, error)
	Wake()
	Problem(ctx context.Context, accountID string) (string, error)
	Preview(ctx context.Context, accountID string, m sms.Message) (sms.Preview, error)
}

// Modules are the modules that perform effects.
type Modules struct {
	fx.In

	Domains   Domains
	Templates Templates
	Sender    Sender
	Texter    Texter `optional:"true"` // nil if the module sms is disabled
}

// services are the dependencies of effects.
type services struct {
	Modules

	config Config
	db     *db.DB
	bus    ingest.Bus
	prover *proof.Prover
	nudge  func() // wakes the worker to look for due steps
}

// StepCheck is the input and output of checks for obstacles to a step.
type StepCheck struct {
	Caller    accounts.Caller // the caller that would activate the automation
	Step      *definition.Step
	LookUntil time.Time                   // deadline of DNS lookups
	Report    func(field, problem string) // reports a problem that prevents activation
	Warn      func(field, problem string) // reports a problem that may change before the step acts, or later
}

// Check reports obstacles to a step. A step without an effect has none.
func (s *Service) Check(ctx context.Context, c StepCheck) error {
	if e, acts := s.effects[c.Step.Type]; acts {
		return e.check(ctx, c)
	}
	return nil
}

// Preview returns the result that the effect of a step would have. The outcome replaces success: "",
// simulation.OutcomeSuppressed or simulation.OutcomeError.
func (s *Service) Preview(
	ctx context.Context, caller accounts.Caller, step *definition.Step, e machine.Effect, outcome string,
) (simulation.EffectResult, error) {
	return s.effects[step.Type].preview(ctx, caller, step.Key, e, outcome)
}

// refusedPreview returns the result of a message that would be rejected. Other errors end the simulation.
func refusedPreview(err error) (simulation.EffectResult, error) {
	refused := fault.Classify(err)
	if refused.Kind == fault.Internal || refused.Kind == fault.Unavailable {
		return simulation.EffectResult{}, err
	}
	return simulation.EffectResult{Result: machine.Result{Status: machine.StatusFailed, Error: codeOf(refused) + ": " +
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
