// Owner: deliverability. The progress of a periodic check that one process does for all.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// DeliverabilityTurn is one check. The process that moves due_at to a later time does the next part of it.
type DeliverabilityTurn struct{ ent.Schema }

// Fields of the DeliverabilityTurn.
func (DeliverabilityTurn) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.String("name").NotEmpty().Immutable().Unique(),
		field.Time("due_at"),
		field.String("after").Default("").Comment("ID of the last domain that was checked in this round"),
	}
}
