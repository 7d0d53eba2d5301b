// Owner: tracking. One load of an open pixel or one use of a tracked link.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Engagement is one open or click of an email.
type Engagement struct{ ent.Schema }

// Annotations of the Engagement.
func (Engagement) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Delete: true}}
}

// Fields of the Engagement.
func (Engagement) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		reference("email_id").required(),
		field.Enum("kind").Values("open", "click"),
		field.Text("url").Optional().Nillable().Comment("target of the link, for a click"),
		field.String("ip").Default(""),
		field.String("user_agent").Default(""),
		field.String("machine").Default("").
			Comment("why it counts as a program: prefetch, scanner, privacy_proxy, …; empty for a person"),
		createdAt(),
	}
}

// Indexes of the Engagement.
func (Engagement) Indexes() []ent.Index {
	return []ent.Index{index.Fields("email_id", "id"), index.Fields("account_id", "id")}
}
