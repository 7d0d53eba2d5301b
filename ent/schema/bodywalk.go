// Owner: sending. The progress of scanning emails whose bodies move to the object store.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// BodyWalk is the position up to which each email has a BodyMove or needs none.
type BodyWalk struct{ ent.Schema }

// Fields of the BodyWalk.
func (BodyWalk) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").StorageKey("name").NotEmpty().Immutable().Comment("sent"),
		reference("position").required(), // id of an email, or a value lower than any id
	}
}
