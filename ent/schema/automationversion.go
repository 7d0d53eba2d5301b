// Owner: automations. One activated state of an automation; it never changes.
package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AutomationVersion is followed by its runs until they end.
type AutomationVersion struct{ ent.Schema }

// Annotations of the AutomationVersion.
func (AutomationVersion) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true}}
}

// Fields of the AutomationVersion.
func (AutomationVersion) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		reference("automation_id").required(),
		field.Int("number").Positive().Immutable(),
		field.JSON("definition", json.RawMessage{}).Immutable(),
		field.String("hash").NotEmpty().Immutable(),
		field.JSON("domain_ids", []string{}).Optional().Immutable().
			Comment("domains of the key that activated it; empty: all"),
		field.String("author").Default("").Immutable().Comment("the key that activated it"),
		createdAt(),
	}
}

// Indexes of the AutomationVersion.
func (AutomationVersion) Indexes() []ent.Index {
	return []ent.Index{index.Fields("automation_id", "number").Unique()}
}
