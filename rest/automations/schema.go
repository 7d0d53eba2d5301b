package automations

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
)

// schemaPath is the path of the JSON Schema of definitions.
const schemaPath = "/schemas/automation.json"

// serveSchema serves the JSON Schema, for editors and validators.
func serveSchema(a *api.API) {
	document, err := json.MarshalIndent(definition.Schema(), "", "  ")
	if err != nil {
		panic("rest/automations: the schema of a definition cannot be written: " + err.Error()) // made of constants
	}
	a.Serve(schemaPath, "application/schema+json", append(document, '\n'),
		http.Header{"Access-Control-Allow-Origin": {"*"}})
}

// automationDefinition is a definition as it is stored.
type automationDefinition struct {
	Name        string        `json:"name" doc:"The name of the automation."`
	Description string        `json:"description,omitempty" doc:"A human-readable description. Absent if none is set."`
	Trigger     storedTrigger `json:"trigger" doc:"The events that start a run, and those that cancel it."`
	Steps       storedSteps   `json:"steps" doc:"The steps in order."`
	Timezone    string        `json:"timezone,omitempty" doc:"The time zone of the definition. Absent for UTC."`
	Goal        *storedGoal   `json:"goal,omitempty" doc:"What the automation is meant to achieve. Absent if it has no goal."`
}

// storedGoal is the goal of a stored definition.
type storedGoal struct {
	Event      string `json:"event" doc:"The name of the custom event that converts a run." example:"order.paid"`
	WithinDays int    `json:"within_days" doc:"The number of days after the start of a run within which the event converts it." example:"7"`
}

// The components of the document that request bodies describe, and responses refer to.
const (
	triggerComponent = "TriggerDefinition"
	goalComponent    = "GoalDefinition"
	stepComponent    = "StepDefinition"
)

// storedTrigger is the trigger of a stored definition.
type storedTrigger wire.JSON

// MarshalJSON implements json.Marshaler.
func (t storedTrigger) MarshalJSON() ([]byte, error) { return wire.JSON(t).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (t *storedTrigger) UnmarshalJSON(data []byte) error { return (*wire.JSON)(t).UnmarshalJSON(data) }

// Schema implements huma.SchemaProvider.
func (storedTrigger) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AllOf: []*huma.Schema{body.RefTo(triggerComponent)}}
}

// storedSteps is the list of steps of a stored definition.
type storedSteps wire.JSON

// MarshalJSON implements json.Marshaler.
func (s storedSteps) MarshalJSON() ([]byte, error) { return wire.JSON(s).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (s *storedSteps) UnmarshalJSON(data []byte) error { return (*wire.JSON)(s).UnmarshalJSON(data) }

// Schema implements huma.SchemaProvider.
func (storedSteps) Schema(huma.Registry) *huma.Schema { return body.ArrayOf(body.RefTo(stepComponent)) }

// triggerSchema describes a trigger as a component of the document.
func triggerSchema(c body.Components) *huma.Schema {
	return c.Ref(triggerComponent, func() *huma.Schema { return describeSchema(c, definition.TriggerSchema()) })
}

// goalSchema describes a goal as a component of the document.
func goalSchema(c body.Components) *huma.Schema {
	return c.Ref(goalComponent, func() *huma.Schema { return describeSchema(c, definition.GoalSchema()) })
}

// stepsSchema describes the list of steps. Each step type is a component, and the field type is the discriminator.
func stepsSchema(c body.Components) *huma.Schema {
	one, most := 1, definition.MaxSteps
	return &huma.Schema{Type: huma.TypeArray, MinItems: &one, MaxItems: &most,
		Items: c.Ref(stepComponent, func() *huma.Schema {
			out := &huma.Schema{Description: "A step. Its type determines its fields. The JSON Schema of the whole " +
				"definition is at `" +
				api.Prefix + schemaPath + "`.",
				Discriminator: &huma.Discriminator{PropertyName: "type", Mapping: map[string]string{}}}
			for _, kind := range definition.Types() {
				ref := c.Ref(componentOf(kind),
					func() *huma.Schema { return describeSchema(c, definition.StepSchema(kind)) })
				out.OneOf = append(out.OneOf, ref)
				out.Discriminator.Mapping[kind] = ref.Ref
			}
			return out
		})}
}

// componentOf returns the component name of a step type: SendEmailStep for send_email.
func componentOf(kind string) string {
	var name strings.Builder
	for word := range strings.SplitSeq(kind, "_") {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String() + "Step"
}

// describeSchema converts a JSON Schema to the form of the document. A schema with a title becomes a component. Rules
// about fields that depend on each other stay in the JSON Schema, because client generators cannot express them.
func describeSchema(c body.Components, schema map[string]any) *huma.Schema {
	out := convertSchema(c, schema)
	name := textOf(schema, "title")
	if name == "" {
		return out
	}
	about := out.Description
	ref := c.Ref(name, func() *huma.Schema {
		out.Description = ""
		return out
	})
	if about == "" {
		return ref
	}
	return &huma.Schema{AllOf: []*huma.Schema{ref}, Description: about}
}

func convertSchema(c body.Components, schema map[string]any) *huma.Schema {
	out := &huma.Schema{Description: textOf(schema, "description"), Type: textOf(schema, "type"),
		Pattern:   textOf(schema, "pattern"),
		MinLength: countOf(schema, "minLength"), MaxLength: countOf(schema, "maxLength"),
		MinItems: countOf(schema, "minItems"), MaxItems: countOf(schema, "maxItems"),
		MaxProperties: countOf(schema, "maxProperties"), Minimum: numberOf(schema, "minimum"),
		Maximum: numberOf(schema, "maximum")}
	if items, is := schema["items"].(map[string]any); is {
		out.Items = describeSchema(c, items)
	}
	out.Required, _ = schema["required"].([]string)
	words, _ := schema["enum"].([]string)
	for _, word := range words {
		out.Enum = append(out.Enum, word)
	}
	if out.Type == huma.TypeObject {
		describeObject(c, out, schema)
		return out
	}
	options, _ := schema["oneOf"].([]any)
	for _, option := range options {
		if of, is := option.(map[string]any); is {
			out.OneOf = append(out.OneOf, describeSchema(c, of))
		}
	}
	return out
}

func describeObject(c body.Components, out *huma.Schema, schema map[string]any) {
	switch more := schema["additionalProperties"].(type) {
	case bool:
		out.AdditionalProperties = more
	case map[string]any:
		out.AdditionalProperties = describeSchema(c, more)
	}
	members, _ := schema["properties"].(map[string]any)
	for name, member := range members {
		if of, is := member.(map[string]any); is {
			if out.Properties == nil {
				out.Properties = map[string]*huma.Schema{}
			}
			out.Properties[name] = describeSchema(c, of)
		}
	}
}

func textOf(schema map[string]any, name string) string {
	s, _ := schema[name].(string)
	return s
}

func countOf(schema map[string]any, name string) *int {
	n, is := schema[name].(int)
	if !is {
		return nil
	}
	return &n
}

func numberOf(schema map[string]any, name string) *float64 {
	if schema[name] == nil {
		return nil
	}
	n, is := schema[name].(int64)
	if !is {
		panic(fmt.Sprintf("rest/automations: %s is %v, not an integer", name, schema[name])) // made of constants
	}
	f := float64(n)
	return &f
}
