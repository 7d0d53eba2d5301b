// Owner: sending. An object of the object store that is to be written, or to be deleted.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// BodyMove is there before the first byte of its object is sent, and goes when an email has
// the key, or when the object is deleted: so no object is forgotten.
type BodyMove struct{ ent.Schema }

// Fields of the BodyMove.
func (BodyMove) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		reference("email_id").required(), // the email may be gone
		field.Int("position").Optional().Nillable().
			Comment("of the file of the email whose data it has; null: it has html and text, or the message"),
		field.String("object_key").NotEmpty(),
		field.Bool("remove").Default(false).Comment("the object is to be deleted; else it is to be written"),
		field.Time("due_at").Comment("when to try; while a worker holds the row, the end of its lease"),
		field.Int64("fence").Default(0),
		field.Int("attempts").Default(0).Comment("claims since the email was finished; 0: nobody has sent anything"),
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
