// Owner: templates. An image that templates show. Anyone who has its URL can load it.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// TemplateImage never changes. Its file has at most one megabyte.
type TemplateImage struct{ ent.Schema }

// Fields of the TemplateImage.
func (TemplateImage) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		field.String("name").Immutable(),
		field.String("content_type").NotEmpty().Immutable(),
		field.Int("size").Positive().Immutable(),
		field.Int("width").Positive().Immutable(),
		field.Int("height").Positive().Immutable(),
		field.Bytes("digest").Immutable().Comment("SHA-256 of the content"),
		field.Bytes("content").Immutable(),
		createdAt(),
	}
}

// Indexes of the TemplateImage.
func (TemplateImage) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "digest").Unique(), index.Fields("account_id", "id")}
}
