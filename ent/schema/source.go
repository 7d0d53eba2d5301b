// Owner: outbound. A source address of the installation's machines for outgoing mail.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Source is a source address in a pool.
type Source struct{ ent.Schema }

// Annotations of the Source.
func (Source) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true, Delete: true}}
}

// Fields of the Source.
func (Source) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		field.String("address").NotEmpty().Immutable().Comment("IPv4 or IPv6, canonical"),
		field.String("hostname").NotEmpty().Comment("name in EHLO, as in the PTR record of the address"),
		field.Enum("pool").Values("shared", "pool", "dedicated").
			Comment("shared: all plans; pool: the plan Pool; dedicated: one account"),
		reference("account_id").optional(),
		field.String("node").Optional().Nillable().
			Comment("the process that sends mail from it; null: any that has the address"),
		field.Time("warmup_started_at").Optional().Nillable().Comment("null if it is warmed up"),
		field.Time("paused_at").Optional().Nillable(),
		createdAt(),
	}
}

// Indexes of the Source.
func (Source) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("address").Unique(),
		index.Fields("account_id").Annotations(entsql.IndexWhere("account_id IS NOT NULL")),
	}
}
