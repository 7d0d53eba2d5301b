// Owner: deliverability. A TLS report that a sender of mail to a domain sent.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// TLSReport is one report. Its counts are in TLSCount.
type TLSReport struct{ ent.Schema }

// Fields of the TLSReport.
func (TLSReport) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("domain_id").required(),
		field.Bytes("digest").Immutable().Comment("hash of the organization and the report id: a duplicate has no effect"),
		field.String("organization").NotEmpty().Immutable().Comment("as the report names it; not verified"),
		field.String("receiver").NotEmpty().Immutable().Comment("domain that authenticated the message of the report"),
		field.String("report_id").NotEmpty().Immutable(),
		field.Time("begins_at").Immutable(),
		field.Time("ends_at").Immutable(),
		createdAt(),
	}
}

// Edges of the TLSReport.
func (TLSReport) Edges() []ent.Edge {
	return []ent.Edge{edge.From("domain", Domain.Type).Ref("tls_reports").Field("domain_id").Unique().Required()}
}

// Indexes of the TLSReport.
func (TLSReport) Indexes() []ent.Index {
	return []ent.Index{index.Fields("domain_id", "digest").Unique(), index.Fields("domain_id", "created_at")}
}
