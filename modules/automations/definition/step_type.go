package definition

import (
	"slices"
	"strings"
	"sync"

	"github.com/postrider/postrider/runtime/base/fault"
)

// stepType is one type of step. Each type has a file, named after it, that registers the type. The schema,
// Decode, Targets, Summary and docs/automations.md are derived from it. The file of the same name in package
// machine implements such steps.
type stepType interface {
	// describe returns the type's row in docs/automations.md, in Markdown.
	describe() string
	// members returns the fields of the type, in addition to stepMembers.
	members() []member
	// summary describes a step in one line.
	summary(s *Step) string

	// Types that do not need the methods below embed plainStep.

	// isEffect reports whether such a step acts outside the run.
	isEffect() bool
	// sends returns the medium that such a step sends to recipients, or "" if it sends nothing.
	sends() Medium
	// isLast reports whether a run never continues after such a step, so that it has no next.
	isLast() bool
	// jointSchema returns the part of the schema about fields that depend on each other; validate reports these
	// errors to the author.
	jointSchema() map[string]any
	// ways returns the targets of a step, except next.
	ways(s *Step) []StepTarget
	// validate reports fields of a step that contradict each other.
	validate(s *Step, path string, wrong fault.Fields)
}

// Medium is the kind of message that a step sends to recipients, who may be suppressed.
type Medium string

// The media.
const (
	MediumEmail Medium = "email"
	MediumText  Medium = "text message"
)

// plainStep implements the optional methods for types that only wait or decide and whose fields are
// independent.
type plainStep struct{}

func (plainStep) isEffect() bool                       { return false }
func (plainStep) sends() Medium                        { return "" }
func (plainStep) isLast() bool                         { return false }
func (plainStep) jointSchema() map[string]any          { return nil }
func (plainStep) ways(*Step) []StepTarget              { return nil }
func (plainStep) validate(*Step, string, fault.Fields) {}

var stepTypes = map[string]stepType{}

// registerType adds a type under the name that its steps have in the field type.
func registerType(name string, t stepType) stepType { //nolint:unparam // the result allows calls in `var _ =`
	stepTypes[name] = t
	return t
}

// Types returns the names of the step types in alphabetical order.
func Types() []string { return sortedKeys(stepTypes) }

// IsEffect reports whether steps of a type act outside the run.
func IsEffect(name string) bool {
	t, known := stepTypes[name]
	return known && t.isEffect()
}

// Sends returns the medium that steps of a type send to recipients, or "" if they send nothing.
func Sends(name string) Medium {
	if t, known := stepTypes[name]; known {
		return t.sends()
	}
	return ""
}

// TypesSending returns the names of the step types that send a medium.
func TypesSending(m Medium) []string {
	return slices.DeleteFunc(Types(), func(name string) bool { return Sends(name) != m })
}

// stepForms returns the form of each type's steps. It is built on first use, after all types have registered.
var stepForms = sync.OnceValue(func() map[string]form {
	forms := map[string]form{}
	for name, t := range stepTypes {
		all := append([]member{{"type", oneOf(name), true, "The type of the step."}}, stepMembers...)
		if t.isLast() {
			all = slices.DeleteFunc(all, func(m member) bool { return m.name == "next" })
		}
		forms[name] = objectForm(append(all, t.members()...)...).withSchema(t.jointSchema())
	}
	return forms
})

var definitionForm = sync.OnceValue(func() form {
	return objectForm(append(slices.Clone(definitionMembers),
		member{"steps", listForm(1, MaxSteps, anyStep()), true, ""})...)
})

// anyStep returns the form of a step of any type.
func anyStep() form {
	forms := stepForms()
	var schemas []any
	for _, name := range Types() {
		schemas = append(schemas, forms[name].schema)
	}
	return form{schema: map[string]any{"oneOf": schemas, "discriminator": map[string]any{"propertyName": "type"}},
		judge: func(path string, value any, wrong fault.Fields) {
			step, is := value.(map[string]any)
			if !is {
				wrong.Add(path, "must be an object")
				return
			}
			name, _ := step["type"].(string)
			f, known := forms[name]
			if !known {
				wrong.Add(path+".type", "must be one of %s", strings.Join(Types(), ", "))
				return
			}
			f.judge(path, value, wrong)
		}}
}

// Schema returns the JSON Schema (2020-12) of a definition. It accepts everything that Decode accepts. Targets,
// duplicate keys and expressions cannot be checked by a schema; only Decode rejects errors in them.
func Schema() map[string]any {
	return definitionForm().withSchema(map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title": "Automation"}).schema
}

// TriggerSchema returns the part of Schema about the trigger.
func TriggerSchema() map[string]any { return schemaProperties(Schema())["trigger"].(map[string]any) } //nolint:forcetypeassert // created by object

// GoalSchema returns the part of Schema about the goal.
func GoalSchema() map[string]any { return schemaProperties(Schema())["goal"].(map[string]any) } //nolint:forcetypeassert // created by object

// StepSchema returns the part of Schema about steps of a type. The caller must not change it.
func StepSchema(name string) map[string]any { return stepForms()[name].schema }

func schemaProperties(schema map[string]any) map[string]any {
	return schema["properties"].(map[string]any) //nolint:forcetypeassert // created by object
}
