// Owner: signin. The identity of a user at an OpenID Connect provider.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Identity links a subject of an OpenID Connect issuer to a user.
type Identity struct{ ent.Schema }

// Annotations of the Identity.
func (Identity) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Delete: true}}
}

// Fields of the Identity.
func (Identity) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("user_id").required(),
		field.String("issuer").NotEmpty(),
		field.String("subject").NotEmpty(),
		createdAt(),
	}
}

// Indexes of the Identity.
func (Identity) Indexes() []ent.Index {
	return []ent.Index{index.Fields("issuer", "subject").Unique(), index.Fields("user_id")}
}
