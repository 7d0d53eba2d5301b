// Owner: automations. A record that a person had runs of an automation, for re-entry; the person is hashed.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AutomationEntry outlives the runs and the erasure of the person, because it contains only a keyed hash.
type AutomationEntry struct{ ent.Schema }

// Fields of the AutomationEntry.
func (AutomationEntry) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		reference("automation_id").required(),
		field.Bytes("person").Comment("keyed hash of a user id or an address"),
		field.Int("runs").Default(0),
		field.Time("last_at"),
	}
}

// Indexes of the AutomationEntry.
func (AutomationEntry) Indexes() []ent.Index {
	return []ent.Index{index.Fields("automation_id", "person").Unique()}
}
