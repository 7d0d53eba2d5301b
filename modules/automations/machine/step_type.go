package machine

import (
	"errors"
	"time"

	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
)

// stepType implements the steps of one type. Each type has a file, named after it, that registers the type; its
// fields are in the file of the same name in package definition.
type stepType interface {
	// begin begins a step: it finishes the step, waits, or requests an effect.
	begin(a *advance, s *definition.Step)

	// Types that do not need the methods below embed plainStep.

	// compile compiles the expressions of a step; path is the path of the step.
	compile(c *compiler, path string, s *definition.Step, out *compiledStep)
	// texts returns the texts of a step that may contain Liquid.
	texts(s *definition.Step) []source
	// timeOut finishes a step when its wait ends without an event.
	timeOut(a *advance, s *definition.Step)
	// decisions returns the conditions that decide where a step continues.
	decisions(c *compiledStep) []*expression.Program
	// render returns the effect of a step with its texts rendered.
	render(t *texts, s *definition.Step) (Effect, error)
}

// plainStep implements the optional methods for types without expressions, texts and effect.
type plainStep struct{}

func (plainStep) compile(*compiler, string, *definition.Step, *compiledStep) {}
func (plainStep) texts(*definition.Step) []source                            { return nil }
func (plainStep) decisions(*compiledStep) []*expression.Program              { return nil }
func (plainStep) render(*texts, *definition.Step) (Effect, error)            { return nil, errors.ErrUnsupported }

func (plainStep) timeOut(a *advance, _ *definition.Step) {
	output := map[string]any{"until": a.state.Waiting.Until.UTC().Format(time.RFC3339)}
	a.finish(Record{Status: StatusDone, Output: output}, definition.Target{Kind: definition.Continue})
}

// effectStep is embedded by types that act outside the run.
type effectStep struct{ plainStep }

func (effectStep) begin(a *advance, s *definition.Step) { a.beginEffect(s) }

// unknownStep handles a type in a stored definition that this program does not know.
type unknownStep struct{ plainStep }

func (unknownStep) begin(a *advance, s *definition.Step) {
	a.finish(Record{Status: StatusFailed, Error: "internal: there is no step of the type " + s.Type},
		definition.Target{Kind: definition.Fails})
}

var stepTypes = map[string]stepType{}

// registerType adds a type under the name it has in package definition.
func registerType(name string, t stepType) stepType { //nolint:unparam // the result allows calls in `var _ =`
	stepTypes[name] = t
	return t
}

func typeOf(s *definition.Step) stepType {
	if t, known := stepTypes[s.Type]; known {
		return t
	}
	return unknownStep{}
}
