// Owner: signin. A WebAuthn credential of a person.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Passkey is a discoverable credential; it counts as both factors.
type Passkey struct{ ent.Schema }

// Annotations of the Passkey.
func (Passkey) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true, Delete: true}}
}

// Fields of the Passkey.
func (Passkey) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("user_id").required(),
		field.Bytes("credential_id").NotEmpty(),
		field.Bytes("credential").NotEmpty().Comment("public key, counter and flags, in the library's JSON format"),
		field.String("name").NotEmpty(),
		field.Time("last_used_at").Optional().Nillable(),
		createdAt(),
	}
}

// Indexes of the Passkey.
func (Passkey) Indexes() []ent.Index {
	return []ent.Index{index.Fields("credential_id").Unique(), index.Fields("user_id", "id")}
}
