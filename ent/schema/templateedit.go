// Owner: templates. One saved state of a template's draft, in its history.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// TemplateEdit is the draft after an edit. Further changes by the same author soon after replace it.
type TemplateEdit struct{ ent.Schema }

// Annotations of the TemplateEdit.
func (TemplateEdit) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Select: true}}
}

// Fields of the TemplateEdit.
func (TemplateEdit) Fields() []ent.Field {
	return append([]ent.Field{
		field.Int64("id"),
		reference("template_id").required(),
		reference("account_id").required(),
		field.Int("number").Positive().Immutable(),
		field.String("author").Default("").Comment("ID of a user or an API key; empty if unknown"),
		createdAt(),
		updatedAt(),
	}, templateContent()...)
}

// Edges of the TemplateEdit.
func (TemplateEdit) Edges() []ent.Edge {
	return []ent.Edge{edge.From("template", Template.Type).Ref("edits").Field("template_id").Unique().Required()}
}

// Indexes of the TemplateEdit.
func (TemplateEdit) Indexes() []ent.Index {
	return []ent.Index{index.Fields("template_id", "number").Unique()}
}
