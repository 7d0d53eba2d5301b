// Owner: sending. One accepted message: what the caller asked for and what became of it.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/postrider/postrider/ent/schema/shape"
)

// Email is an accepted message.
type Email struct{ ent.Schema }

// Fields of the Email.
func (Email) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		reference("domain_id").required(),
		reference("api_key_id").optional(),
		field.String("from").NotEmpty().Comment("display form, as the record shows it"),
		field.String("from_address").NotEmpty().Comment("addr-spec, domain in A-labels"),
		field.JSON("to", []string{}).Comment("display forms"),
		field.JSON("cc", []string{}).Optional(),
		field.JSON("bcc", []string{}).Optional(),
		field.JSON("reply_to", []string{}).Optional(),
		field.String("subject"),
		field.Text("html").Optional().Nillable(),
		field.Text("text").Optional().Nillable(),
		field.JSON("headers", []shape.Header{}).Optional(),
		field.JSON("tags", []shape.Tag{}).Optional(),
		field.String("message_id").NotEmpty().Comment("Message-ID without angle brackets"),
		field.Int("attachment_count").Default(0),
		field.Enum("status").Values("queued", "scheduled", "sent", "delivered", "bounced", "failed", "cancelled"),
		field.String("last_event").Comment("full event type"),
		field.String("bounce_reason").Optional().Nillable(),
		createdAt(),
		field.Time("scheduled_at").Optional().Nillable(),
		field.Time("cancelled_at").Optional().Nillable(),
		field.Time("sent_at").Optional().Nillable(),
		field.Time("delivered_at").Optional().Nillable(),
		field.Time("bounced_at").Optional().Nillable(),
	}
}

// Edges of the Email.
func (Email) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("recipients", Recipient.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("attachments", Attachment.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes of the Email.
func (Email) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "id"), index.Fields("domain_id", "id")}
}
