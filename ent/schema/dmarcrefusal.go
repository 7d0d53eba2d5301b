// Owner: deliverability. Messages to the report address of a domain that were refused, by day and reason.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// DMARCRefusal is one counter.
type DMARCRefusal struct{ ent.Schema }

// Fields of the DMARCRefusal.
func (DMARCRefusal) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("domain_id").required(),
		field.String("day").NotEmpty().Immutable().Comment("UTC day of arrival: 2026-11-28"),
		field.String("reason").NotEmpty().Immutable(),
		field.Int64("messages").Default(0),
	}
}

// Edges of the DMARCRefusal.
func (DMARCRefusal) Edges() []ent.Edge {
	return []ent.Edge{edge.From("domain", Domain.Type).Ref("dmarc_refusals").Field("domain_id").Unique().Required()}
}

// Indexes of the DMARCRefusal.
func (DMARCRefusal) Indexes() []ent.Index {
	return []ent.Index{index.Fields("domain_id", "day", "reason").Unique(), index.Fields("day")}
}
