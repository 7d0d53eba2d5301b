// Owner: deliverability. Messages of a domain on one day, as receivers reported them.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// DMARCCount is one counter.
type DMARCCount struct{ ent.Schema }

// Fields of the DMARCCount.
func (DMARCCount) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("domain_id").required(),
		field.String("day").NotEmpty().Immutable().Comment("UTC day of the middle of the report's period: 2026-11-28"),
		field.String("receiver").NotEmpty().Immutable().Comment("domain that authenticated the message of the report"),
		field.String("source").NotEmpty().Immutable().Comment("IP address of the sending server"),
		field.String("disposition").NotEmpty().Immutable().Comment("none, quarantine, reject"),
		field.Bool("dkim").Immutable().Comment("passed and aligned"),
		field.Bool("spf").Immutable().Comment("passed and aligned"),
		field.Bool("signed").Immutable().Comment("a DKIM signature passed, aligned or not"),
		field.Bool("permitted").Immutable().Comment("an SPF check passed, aligned or not"),
		field.Int64("messages").Default(0),
	}
}

// Edges of the DMARCCount.
func (DMARCCount) Edges() []ent.Edge {
	return []ent.Edge{edge.From("domain", Domain.Type).Ref("dmarc_counts").Field("domain_id").Unique().Required()}
}

// Indexes of the DMARCCount.
func (DMARCCount) Indexes() []ent.Index {
	return []ent.Index{index.Fields("domain_id", "day", "receiver", "source", "disposition", "dkim", "spf", "signed",
		"permitted").Unique(), index.Fields("day")}
}
