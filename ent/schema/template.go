// Owner: templates. A message with variables: an editable draft, and its published versions.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/postrider/postrider/ent/schema/shape"
)

// Template holds the draft. Sends use the published version only.
type Template struct{ ent.Schema }

// Annotations of the Template.
func (Template) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true, Delete: true, Select: true}}
}

// Fields of the Template.
func (Template) Fields() []ent.Field {
	return append([]ent.Field{
		publicID(),
		reference("account_id").required(),
		field.String("alias").Optional().Nillable().Comment("name used by programs, unique in the account"),
		field.String("name").NotEmpty(),
		field.String("kind").Default("template").Immutable().Comment("template, layout or partial"),
		field.JSON("components", []shape.Component{}).Optional().
			Comment("layout and partials in the published version; null if there are none"),
		field.Int("version").Optional().Nillable().Comment("number of the published version; null if there is none"),
		field.Int("last_version").Default(0).Comment("the highest version number so far"),
		field.Time("published_at").Optional().Nillable(),
		field.JSON("locales", []shape.TranslationSummary{}).Optional().
			Comment("summary of translations, which lists read instead of them"),
		createdAt(),
		updatedAt(),
	}, templateContent()...)
}

// templateContent has the fields that drafts and versions share.
func templateContent() []ent.Field {
	return []ent.Field{
		field.String("subject").Default(""),
		field.String("from").Default("").Comment("display form; empty leaves it to the send"),
		field.JSON("reply_to", []string{}).Optional(),
		field.Text("html").Optional().Nillable(),
		field.Text("text").Optional().Nillable(),
		field.JSON("translations", []shape.Translation{}).Optional().Comment("content in other languages; null if there is none"),
		field.JSON("variables", []shape.Variable{}).Optional(),
		field.Bool("unsubscribe_enabled").Default(false),
		field.String("category").Optional().Nillable(),
	}
}

// Edges of the Template.
func (Template) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("versions", TemplateVersion.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("edits", TemplateEdit.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes of the Template.
func (Template) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "alias").Unique(), index.Fields("account_id", "id")}
}
