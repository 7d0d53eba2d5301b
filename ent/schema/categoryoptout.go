// Owner: suppression. An address that opted out of one category of an account's mail.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// CategoryOptOut blocks the mail of one category to an address; other mail continues.
type CategoryOptOut struct{ ent.Schema }

// Annotations of the CategoryOptOut.
func (CategoryOptOut) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{}}
}

// Fields of the CategoryOptOut.
func (CategoryOptOut) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		field.Bytes("address_hash").Immutable().Comment("keyed hash of the address, lower case"),
		field.String("email").Optional().Nillable().Comment("the address, lower case; null once erased"),
		field.String("category").NotEmpty().Immutable().Comment("key that categories of sends are compared by"),
		field.String("category_label").NotEmpty().Comment("label as written in the send"),
		field.String("source").NotEmpty().Comment("one_click, page"),
		reference("email_id").optional(),
		createdAt(),
	}
}

// Indexes of the CategoryOptOut.
func (CategoryOptOut) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "address_hash", "category").Unique(),
		index.Fields("account_id", "id")}
}
