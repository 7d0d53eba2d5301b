// Owner: automations. One step of a run, with its outcome.
package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AutomationStep is written once, when the step ends.
type AutomationStep struct{ ent.Schema }

// Annotations of the AutomationStep.
func (AutomationStep) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{}}
}

// Fields of the AutomationStep.
func (AutomationStep) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		reference("automation_id").required(),
		field.Int("version").Positive(),
		reference("run_id").required(),
		field.Int("step_index"),
		field.String("key"),
		field.String("type"),
		field.String("status"),
		field.JSON("output", json.RawMessage{}),
		field.String("error").Default(""),
		reference("email_id").optional(),
		field.Time("started_at"),
		field.Time("ended_at"),
	}
}

// Indexes of the AutomationStep.
func (AutomationStep) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("run_id", "id"),
		index.Fields("email_id").StorageKey("automationstep_email").
			Annotations(entsql.IndexWhere("email_id IS NOT NULL")),
		index.Fields("automation_id", "version", "step_index", "status"),
	}
}
