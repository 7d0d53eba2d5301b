// Owner: domains. A claim by an account of a domain that another account has verified.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// DomainClaim is one claim; it ends when its TXT record was found, or when it expires.
type DomainClaim struct{ ent.Schema }

// Annotations of the DomainClaim.
func (DomainClaim) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{}}
}

// Fields of the DomainClaim.
func (DomainClaim) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		field.String("name").NotEmpty().Immutable().Comment("A-labels, lower case"),
		field.String("token").NotEmpty().Immutable().Comment("required value of the TXT record"),
		field.Enum("status").Values("pending", "completed", "expired").Default("pending"),
		createdAt(),
		field.Time("expires_at"),
		field.Time("last_checked_at").Optional().Nillable(),
		field.Time("completed_at").Optional().Nillable(),
	}
}

// Indexes of the DomainClaim.
func (DomainClaim) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "name"), index.Fields("name")}
}
