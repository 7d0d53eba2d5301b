// Owner: deliverability. An aggregate report that a receiver sent about a domain.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// DMARCReport is one report. Its counts are in DMARCCount.
type DMARCReport struct{ ent.Schema }

// Fields of the DMARCReport.
func (DMARCReport) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("domain_id").required(),
		field.Bytes("digest").Immutable().Comment("hash of the organization and the report id: a duplicate has no effect"),
		field.String("organization").NotEmpty().Immutable().Comment("as the report names it; not verified"),
		field.String("receiver").NotEmpty().Immutable().Comment("domain that authenticated the message of the report"),
		field.String("report_id").NotEmpty().Immutable(),
		field.String("policy").NotEmpty().Immutable().Comment("none, quarantine, reject"),
		field.Time("begins_at").Immutable(),
		field.Time("ends_at").Immutable(),
		field.Int64("messages").Immutable(),
		createdAt(),
	}
}

// Edges of the DMARCReport.
func (DMARCReport) Edges() []ent.Edge {
	return []ent.Edge{edge.From("domain", Domain.Type).Ref("dmarc_reports").Field("domain_id").Unique().Required()}
}

// Indexes of the DMARCReport.
func (DMARCReport) Indexes() []ent.Index {
	return []ent.Index{index.Fields("domain_id", "digest").Unique(), index.Fields("domain_id", "created_at")}
}
