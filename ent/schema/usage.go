// Owner: accounts. The number of emails accepted from a capped account in a day or a month.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Usage is one counter. Accounts without a cap have no row.
type Usage struct{ ent.Schema }

// Fields of the Usage.
func (Usage) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		field.String("period").NotEmpty().Immutable().Comment("UTC: 2026-11 or 2026-11-21"),
		field.Int64("emails").Default(0),
	}
}

// Indexes of the Usage.
func (Usage) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "period").Unique()}
}
