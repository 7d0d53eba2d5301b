// Owner: signin. A link that signs in its holder once.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SignInLink is written for each request, whether the address is known or not. Its token is created together
// with its email; due_at is the time of the next attempt.
type SignInLink struct{ ent.Schema }

// Annotations of the SignInLink.
func (SignInLink) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true, Delete: true}}
}

// Fields of the SignInLink.
func (SignInLink) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.Bytes("token_hash").Optional().Nillable().Sensitive().Comment("SHA-256; null until the email is created"),
		field.Enum("purpose").Values("setup", "sign_up", "reset", "email", "email_stop", "sign_in"),
		reference("user_id").optional(),
		field.String("email").Default("").
			Comment("lower case; for an email change the new address, for a link that cancels it the old one"),
		field.Bool("known_device").Default(false).
			Comment("requested from a browser in which the user has signed in before"),
		field.Bool("again").Default(false).Comment("can be opened repeatedly (development mode)"),
		field.Time("expires_at"),
		field.Time("used_at").Optional().Nillable(),
		field.Time("due_at").Optional().Nillable().
			Comment("when its email is due; null once it is created, or if no email is due"),
		field.Int("attempts").Default(0).Comment("attempts to create the email"),
		createdAt(),
	}
}

// Indexes of the SignInLink.
func (SignInLink) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("token_hash").Unique(), index.Fields("expires_at"), index.Fields("user_id"), index.Fields("email"),
		index.Fields("due_at").StorageKey("signinlink_due").Annotations(entsql.IndexWhere("due_at IS NOT NULL")),
	}
}
