// Owner: accounts. An offer to a mailbox to join an account.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Invitation is open until it is accepted, revoked or has expired. Its token is created together with its
// email; due_at is the time of the next attempt.
type Invitation struct{ ent.Schema }

// Annotations of the Invitation.
func (Invitation) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true}}
}

// Fields of the Invitation.
func (Invitation) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		field.String("email").NotEmpty().Comment("lower case"),
		field.Enum("role").Values("owner", "admin", "developer", "billing", "viewer"),
		field.Bytes("token_hash").Optional().Nillable().Sensitive().Comment("SHA-256; null until the email is created"),
		reference("invited_by").optional(),
		field.Time("expires_at"),
		field.Time("accepted_at").Optional().Nillable(),
		field.Time("revoked_at").Optional().Nillable(),
		field.Time("due_at").Optional().Nillable().Comment("when its email is due; null once it is created"),
		field.Int("attempts").Default(0).Comment("attempts to create the email"),
		createdAt(),
	}
}

// Indexes of the Invitation.
func (Invitation) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "email").Unique().StorageKey("invitation_open").
			Annotations(entsql.IndexWhere("accepted_at IS NULL AND revoked_at IS NULL")),
		index.Fields("account_id", "id"),
		index.Fields("token_hash").Unique(),
		index.Fields("due_at").StorageKey("invitation_due").Annotations(entsql.IndexWhere("due_at IS NOT NULL")),
	}
}
