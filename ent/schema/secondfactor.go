// Owner: signin. The second factor of a user: an authenticator app and recovery codes.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// SecondFactor shares the ID of its user. It is required once it is active.
type SecondFactor struct{ ent.Schema }

// Annotations of the SecondFactor.
func (SecondFactor) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true, Delete: true}}
}

// Fields of the SecondFactor.
func (SecondFactor) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		field.Bytes("secret").NotEmpty().Sensitive().Comment("secret of RFC 6238, sealed with the master key"),
		field.Int64("last_step").Default(0).
			Comment("time step of the last accepted code, so that no code is accepted twice"),
		field.Time("active_at").Optional().Nillable(),
		field.JSON("recovery", [][]byte{}).Optional().Sensitive().
			Comment("SHA-256 of the remaining recovery codes"),
		createdAt(),
	}
}
