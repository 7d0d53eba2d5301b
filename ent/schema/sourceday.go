// Owner: outbound. The number of messages sent in one day from an address that is warming up.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SourceDay is one counter. Addresses that are warmed up have no row.
type SourceDay struct{ ent.Schema }

// Fields of the SourceDay.
func (SourceDay) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("source_id").required(),
		field.String("day").NotEmpty().Immutable().Comment("UTC by the database clock: 2026-11-22"),
		field.Int64("deliveries").Default(0),
	}
}

// Indexes of the SourceDay.
func (SourceDay) Indexes() []ent.Index {
	return []ent.Index{index.Fields("source_id", "day").Unique()}
}
