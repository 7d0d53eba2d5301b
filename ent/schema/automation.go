// Owner: automations. A sequence of steps that events start: an editable draft, and its activated versions.
package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Automation holds the draft. Runs use versions only.
type Automation struct{ ent.Schema }

// Annotations of the Automation.
func (Automation) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true, Delete: true, Select: true}}
}

// Fields of the Automation.
func (Automation) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		field.String("name").NotEmpty(),
		field.String("description").Default(""),
		field.String("event").NotEmpty().Comment("event that starts the draft, for lists"),
		field.Enum("status").Values("draft", "active", "paused", "archived").Default("draft"),
		field.JSON("draft", json.RawMessage{}),
		field.String("draft_hash").NotEmpty(),
		field.Int("version").Optional().Nillable().
			Comment("version that starts runs, or would if it were not paused; null if there is none"),
		field.String("version_hash").Default("").Comment("hash of the definition of that version"),
		field.Int("last_version").Default(0).Comment("the highest version number so far"),
		field.Bool("held").Default(false).Comment("no further steps of its runs start"),
		field.Enum("draining").Values("release", "cancel").Optional().Nillable().
			Comment("background work on live runs: release or cancel"),
		field.Time("drain_before").Optional().Nillable().
			Comment("cancel only runs that started before this time; null: all"),
		createdAt(),
		updatedAt(),
		field.Time("activated_at").Optional().Nillable(),
	}
}

// Indexes of the Automation.
func (Automation) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
		index.Fields("id").StorageKey("automation_draining").Annotations(entsql.IndexWhere("draining IS NOT NULL")),
	}
}
