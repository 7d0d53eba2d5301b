// Owner: tracking. An account's own host name for the tracked links of a domain.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// TrackingHost is used in links once its CNAME record has been found.
type TrackingHost struct{ ent.Schema }

// Annotations of the TrackingHost.
func (TrackingHost) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Delete: true}}
}

// Fields of the TrackingHost.
func (TrackingHost) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		reference("domain_id").required(),
		field.String("host").NotEmpty().Comment("A-labels, lower case, below the domain"),
		field.Enum("status").Values("pending", "verified", "failed").Default("pending"),
		field.Strings("found").Optional().Comment("answer of the resolver"),
		field.String("error").Default("").Comment("one sentence that says what to do; empty if verified"),
		field.Time("verified_at").Optional().Nillable(),
		field.Time("last_checked_at").Optional().Nillable(),
		field.Time("failing_since").Optional().Nillable(),
		field.Time("due_at").Optional().Nillable().
			Comment("next check; while a worker holds the row, the end of its lease"),
		field.Int64("fence").Default(0),
		createdAt(),
		updatedAt(),
	}
}

// Indexes of the TrackingHost.
func (TrackingHost) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("domain_id").Unique(),
		index.Fields("host").Unique(),
		index.Fields("due_at").StorageKey("trackinghost_due").Annotations(entsql.IndexWhere("due_at IS NOT NULL")),
	}
}
