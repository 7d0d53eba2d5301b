// Owner: signin. The password of a person.
package schema

import (
	"time"

	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// Password shares the ID of its user.
type Password struct{ ent.Schema }

// Annotations of the Password.
func (Password) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true}}
}

// Fields of the Password.
func (Password) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		field.String("hash").NotEmpty().Sensitive().Comment("argon2id, in the PHC string format"),
		field.Time("changed_at").Default(time.Now),
	}
}
