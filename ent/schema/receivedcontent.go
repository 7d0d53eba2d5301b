// Owner: inbound. A raw message exactly as received.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ReceivedContent is a raw message, once for all recipients of one account in one
// SMTP transaction. It is stored here until an object store has confirmed that it has a copy.
type ReceivedContent struct{ ent.Schema }

// Fields of the ReceivedContent.
func (ReceivedContent) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		field.Int64("size"),
		field.Bytes("data").Optional().Nillable().Comment("null once it is in the object store"),
		field.String("object_key").Optional().Nillable().Comment("its key in the object store"),
		field.Time("due_at").Optional().Nillable().
			Comment("when to move it to the object store; while a worker holds the row, the end of its lease"),
		field.Int64("fence").Default(0),
		field.Int("attempts").Default(0),
		createdAt(),
	}
}

// Edges of the ReceivedContent.
func (ReceivedContent) Edges() []ent.Edge {
	return []ent.Edge{edge.To("emails", ReceivedEmail.Type)}
}

// Indexes of the ReceivedContent.
func (ReceivedContent) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
		index.Fields("due_at").StorageKey("receivedcontent_due").Annotations(entsql.IndexWhere("due_at IS NOT NULL")),
	}
}
