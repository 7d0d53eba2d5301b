// Owner: node. The hold that keeps the whole installation from sending.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// DeliveryHold has a row while the installation is held, and no row otherwise.
type DeliveryHold struct{ ent.Schema }

// Fields of the DeliveryHold. There is one hold, so there is one id.
func (DeliveryHold) Fields() []ent.Field {
	return []ent.Field{
		field.Int32("id").Range(1, 1),
		field.Time("since").Immutable().Comment("when it began, by the database clock"),
		field.String("reason").Comment("shown to the operator"),
	}
}
