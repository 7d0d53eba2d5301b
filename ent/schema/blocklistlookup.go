// Owner: deliverability. What a DNS list says about an address or a domain.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// BlocklistLookup is one cached lookup. It belongs to no account, because it contains public data only.
type BlocklistLookup struct{ ent.Schema }

// Fields of the BlocklistLookup.
func (BlocklistLookup) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.String("subject").NotEmpty().Immutable().Comment("IP address or domain"),
		field.String("list").NotEmpty().Immutable().Comment("zone of the list"),
		field.String("status").NotEmpty().Comment("listed, clear, refused, broken or unknown"),
		field.String("reply").Default("").Comment("the address that the list returned"),
		field.Time("checked_at"),
		field.Time("listed_at").Optional().Nillable().Comment("when the listing was first seen; null unless listed"),
	}
}

// Indexes of the BlocklistLookup.
func (BlocklistLookup) Indexes() []ent.Index {
	return []ent.Index{index.Fields("subject", "list").Unique(), index.Fields("checked_at")}
}
