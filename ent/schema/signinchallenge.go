// Owner: signin. The challenge of a sign-in in progress.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SignInChallenge is deleted by the transaction that reads it, so it can be used only once. The table is
// unlogged: after a crash of the database, sign-ins in progress must be started again.
type SignInChallenge struct{ ent.Schema }

// Annotations of the SignInChallenge.
func (SignInChallenge) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true}}
}

// Fields of the SignInChallenge.
func (SignInChallenge) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		field.Enum("kind").Values("passkey", "new_passkey", "oidc"),
		field.Bytes("browser").Optional().Nillable().
			Comment("SHA-256 of a cookie of the browser that started the sign-in"),
		reference("user_id").optional(),
		field.Bytes("data").NotEmpty().Sensitive().Comment("challenge, or state, nonce and verifier, as JSON"),
		field.Time("expires_at"),
	}
}

// Indexes of the SignInChallenge.
func (SignInChallenge) Indexes() []ent.Index {
	return []ent.Index{index.Fields("expires_at")}
}
