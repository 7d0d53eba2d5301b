// Owner: suppression. An address that an account cannot send to.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Suppression blocks all mail from an account to an address. It is looked up by hash, so that it still blocks
// after the address is erased.
type Suppression struct{ ent.Schema }

// Annotations of the Suppression.
func (Suppression) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{}}
}

// Fields of the Suppression.
func (Suppression) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		field.Bytes("address_hash").Immutable().Comment("keyed hash of the address, lower case"),
		field.String("email").Optional().Nillable().Comment("the address, lower case; null once erased"),
		field.Enum("reason").Values("bounce", "failure", "complaint", "unsubscribe", "manual"),
		reference("email_id").optional(),
		createdAt(),
	}
}

// Indexes of the Suppression.
func (Suppression) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "address_hash").Unique(),
		index.Fields("account_id", "id"),
		// The operators of this class compare by bytes, which finds a prefix under any locale.
		index.Fields("account_id", "email").StorageKey("suppression_email").
			Annotations(entsql.OpClassColumn("email", "varchar_pattern_ops")),
	}
}
