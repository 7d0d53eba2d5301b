// Owner: sending. A file of an email, decoded.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Attachment is one file of an email.
type Attachment struct{ ent.Schema }

// Annotations of the Attachment.
func (Attachment) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Delete: true, Select: true}}
}

// Fields of the Attachment.
func (Attachment) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("email_id").required(),
		reference("account_id").required(),
		field.Int("position").NonNegative(),
		field.String("name").NotEmpty(),
		field.String("content_type").NotEmpty(),
		field.String("content_id").Default("").Comment("without angle brackets; if set, the file is inline"),
		field.Int("size").NonNegative().Comment("decoded size in bytes"),
		field.Bytes("data").Comment("empty if the data is in the object store"),
		field.String("object_key").Optional().Nillable().
			Comment("key of the data in the object store (modules/sending/bodies)"),
	}
}

// Edges of the Attachment.
func (Attachment) Edges() []ent.Edge {
	return []ent.Edge{edge.From("email", Email.Type).Ref("attachments").Field("email_id").Unique().Required()}
}

// Indexes of the Attachment.
func (Attachment) Indexes() []ent.Index {
	return []ent.Index{index.Fields("email_id", "position").Unique()}
}
