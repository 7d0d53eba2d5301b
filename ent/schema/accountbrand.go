// Owner: accounts. The appearance of an account on pages that its recipients see.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// AccountBrand shares the ID of its account. An account without a row has no brand.
type AccountBrand struct{ ent.Schema }

// Fields of the AccountBrand.
func (AccountBrand) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		field.String("name").Default("").Comment("empty: none"),
		field.String("color").Default("").Comment("#rrggbb in lower case; empty: none"),
		field.Bytes("logo").Optional().Nillable().Comment("PNG, at most 64 KiB"),
		createdAt(),
		updatedAt(),
	}
}
