// Owner: sending. A pending write or deletion of an object in the object store.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// BodyMove is created before the first byte of its object is sent, and deleted when an email has the key or when
// the object is deleted, so that no object is lost track of.
type BodyMove struct{ ent.Schema }

// Fields of the BodyMove.
func (BodyMove) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		reference("email_id").required(), // the email may be gone
		field.Int("position").Optional().Nillable().
			Comment("position of the attachment to move; null for html and text, or the message"),
		field.String("object_key").NotEmpty(),
		field.Bool("remove").Default(false).Comment("whether to delete the object rather than write it"),
		field.Time("due_at").Comment("time of the next try; while a worker holds the row, the end of its lease"),
		field.Int64("fence").Default(0),
		field.Int("attempts").Default(0).Comment("claims since the email was finished; 0: nothing was sent yet"),
		createdAt(),
	}
}

// Indexes of the BodyMove.
func (BodyMove) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("remove", "due_at").StorageKey("bodymove_due"),
		index.Fields("email_id").StorageKey("bodymove_email"),
	}
}
