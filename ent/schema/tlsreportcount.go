// Owner: outbound. TLS sessions with a receiving domain on one day, counted as RFC 8460 reports them.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// TLSReportCount is one counter.
type TLSReportCount struct{ ent.Schema }

// Annotations of the TLSReportCount.
func (TLSReportCount) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{}}
}

// Fields of the TLSReportCount.
func (TLSReportCount) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.String("day").NotEmpty().Immutable().Comment("UTC by the database clock: 2026-11-22"),
		field.String("domain").NotEmpty().Immutable().Comment("domain of the recipients, in A-labels"),
		field.String("host").Immutable().Comment("mail host; empty if none was determined"),
		field.String("policy").NotEmpty().Immutable().Comment("opportunistic, enforced, mta-sts, dane"),
		field.Bool("testing").Immutable(),
		field.String("result").Immutable().
			Comment("empty for success, otherwise a result type of RFC 8460 section 4.3"),
		field.Int64("sessions").Default(0),
	}
}

// Indexes of the TLSReportCount.
func (TLSReportCount) Indexes() []ent.Index {
	return []ent.Index{index.Fields("day", "domain", "host", "policy", "testing", "result").Unique()}
}
