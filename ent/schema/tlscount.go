// Owner: deliverability. SMTP sessions with a domain on one day, as senders reported them.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// TLSCount is one counter.
type TLSCount struct{ ent.Schema }

// Fields of the TLSCount.
func (TLSCount) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("domain_id").required(),
		field.String("day").NotEmpty().Immutable().Comment("UTC day of the middle of the report's period: 2026-11-28"),
		field.String("receiver").NotEmpty().Immutable().Comment("domain that authenticated the message of the report"),
		field.String("policy").NotEmpty().Immutable().Comment("sts, tlsa, no-policy-found, other"),
		field.String("result").NotEmpty().Immutable().Comment("successful and failed, which are the totals, or a type of failure"),
		field.Int64("sessions").Default(0),
	}
}

// Edges of the TLSCount.
func (TLSCount) Edges() []ent.Edge {
	return []ent.Edge{edge.From("domain", Domain.Type).Ref("tls_counts").Field("domain_id").Unique().Required()}
}

// Indexes of the TLSCount.
func (TLSCount) Indexes() []ent.Index {
	return []ent.Index{index.Fields("domain_id", "day", "receiver", "policy", "result").Unique(), index.Fields("day")}
}
