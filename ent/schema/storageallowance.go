// Owner: accounts. Bytes that a process has borrowed from the counter of an account, to spend without a query.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// StorageAllowance is the part of an account's quota that one process has borrowed.
type StorageAllowance struct{ ent.Schema }

// Fields of the StorageAllowance.
func (StorageAllowance) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		field.String("holder").NotEmpty().Immutable().Comment("identifies one run of one process"),
		field.Int64("bytes").Default(0),
		field.Time("expires_at"),
	}
}

// Indexes of the StorageAllowance.
func (StorageAllowance) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "holder").Unique(),
		index.Fields("expires_at"),
	}
}
