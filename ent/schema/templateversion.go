// Owner: templates. One published state of a template; it never changes.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/postrider/postrider/ent/schema/shape"
)

// TemplateVersion is the content that emails are rendered from: html with its CSS inlined, and
// the author's text. Versions published before 2026-11-27 also store a text generated from the html.
type TemplateVersion struct{ ent.Schema }

// Annotations of the TemplateVersion.
func (TemplateVersion) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Select: true}}
}

// Fields of the TemplateVersion.
func (TemplateVersion) Fields() []ent.Field {
	return append([]ent.Field{
		field.Int64("id"),
		reference("template_id").required(),
		reference("account_id").required(),
		field.Int("number").Positive().Immutable(),
		field.Text("source_html").Optional().Nillable().
			Comment("html as the author wrote it, for the draft after a rollback"),
		field.Text("source_text").Optional().Nillable().
			Comment("text as the author wrote it; null if the template has none"),
		field.JSON("source_translations", []shape.Translation{}).Optional().
			Comment("translations as the author wrote them; translations has their CSS inlined"),
		field.JSON("source_variables", []shape.Variable{}).Optional().
			Comment("variables as the author declared them; null if variables are the same"),
		field.JSON("components", []shape.Component{}).Optional().
			Comment("layout and partials in html, text and translations; null if there are none"),
		field.String("author").Default("").Comment("ID of the user or API key that published it; empty if unknown"),
		createdAt(),
	}, templateContent()...)
}

// Edges of the TemplateVersion.
func (TemplateVersion) Edges() []ent.Edge {
	return []ent.Edge{edge.From("template", Template.Type).Ref("versions").Field("template_id").Unique().Required()}
}

// Indexes of the TemplateVersion.
func (TemplateVersion) Indexes() []ent.Index {
	return []ent.Index{index.Fields("template_id", "number").Unique()}
}
