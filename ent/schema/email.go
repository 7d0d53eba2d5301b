// Owner: sending. One accepted message: the request and its outcome.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/postrider/postrider/ent/schema/shape"
)

// Email is an accepted message.
type Email struct{ ent.Schema }

// Annotations of the Email.
func (Email) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Delete: true, Select: true}}
}

// Fields of the Email.
func (Email) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		reference("domain_id").required(),
		reference("api_key_id").optional(),
		reference("template_id").optional(),
		field.Int("template_version").Optional().Nillable(),
		reference("automation_id").optional(),
		reference("run_id").optional(),
		field.String("from").NotEmpty().Comment("display form, as shown in the record"),
		field.String("from_address").NotEmpty().Comment("addr-spec, domain in A-labels"),
		field.JSON("to", []string{}).Comment("display forms"),
		field.JSON("cc", []string{}).Optional(),
		field.JSON("bcc", []string{}).Optional(),
		field.JSON("reply_to", []string{}).Optional(),
		field.String("subject"),
		field.Text("html").Optional().Nillable(),
		field.Text("text").Optional().Nillable(),
		field.Bytes("mime").Optional().Nillable().
			Comment("message as its sender composed it, if it was submitted over SMTP; it then contains html " +
				"and text"),
		field.String("body_key").Optional().Nillable().
			Comment("key of html and text, or mime, in the object store; the columns are then null " +
				"(modules/sending/bodies)"),
		field.Int64("body_size").Optional().Nillable().Comment("bytes stored in the object store"),
		field.String("body_snippet").Optional().Nillable().Comment("first words of the body, for lists"),
		field.JSON("headers", []shape.Header{}).Optional(),
		field.JSON("tags", []shape.Tag{}).Optional(),
		field.String("message_id").NotEmpty().Comment("Message-ID without angle brackets"),
		field.Int("attachment_count").Default(0),
		field.Bool("unsubscribe").Default(false).Comment("managed unsubscribe: header fields and {{unsubscribe_url}}"),
		field.String("category").Optional().Nillable().
			Comment("the caller's name for the kind of mail; the scope of an unsubscribe"),
		field.Enum("status").Values("queued", "scheduled", "sent", "delivered", "bounced", "failed", "cancelled"),
		field.String("last_event").Comment("full event type"),
		field.String("bounce_reason").Optional().Nillable(),
		createdAt(),
		field.Time("scheduled_at").Optional().Nillable(),
		field.Time("expires_at").Optional().Nillable().Comment("not delivered after this time"),
		field.Time("cancelled_at").Optional().Nillable(),
		field.Time("sent_at").Optional().Nillable(),
		field.Time("delivered_at").Optional().Nillable(),
		field.Time("bounced_at").Optional().Nillable(),
		field.Time("release_at").Optional().Nillable().
			Comment("when a worker checks a scheduled email; null once it is released or cancelled"),
		field.String("uncommon").Optional().Nillable().
			Comment("the status if it is neither sent nor delivered; the index of rare states covers only " +
				"these, so the common path changes no index"),
		field.String("search").Optional().Nillable().SchemaType(map[string]string{dialect.Postgres: "tsvector"}).
			Comment("words of subject, addresses and tags, and exact lexemes for filters"),
		field.Time("body_purged_at").Optional().Nillable().
			Comment("when html, text, mime, headers and attachments were deleted"),
	}
}

// Edges of the Email.
func (Email) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("recipients", Recipient.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("attachments", Attachment.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("reports", DeliveryReport.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes of the Email.
func (Email) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
		index.Fields("domain_id", "id"),
		index.Fields("release_at").StorageKey("email_release").Annotations(entsql.IndexWhere("release_at IS NOT NULL")),
		index.Fields("account_id", "scheduled_at", "id").StorageKey("email_scheduled").
			Annotations(entsql.IndexWhere("release_at IS NOT NULL")),
		index.Fields("account_id", "uncommon", "id").StorageKey("email_uncommon").
			Annotations(entsql.IndexWhere("uncommon IS NOT NULL")),
		index.Fields("search").StorageKey("email_search").Annotations(entsql.IndexType("GIN")),
		// Few emails come from a template or an automation, and these indexes cost nothing for the others.
		index.Fields("account_id", "template_id", "id").StorageKey("email_template").
			Annotations(entsql.IndexWhere("template_id IS NOT NULL")),
		index.Fields("account_id", "automation_id", "id").StorageKey("email_automation").
			Annotations(entsql.IndexWhere("automation_id IS NOT NULL")),
		// The ids of other emails contain their age.
		index.Fields("sent_at").StorageKey("email_scheduled_sent").
			Annotations(entsql.IndexWhere("scheduled_at IS NOT NULL")),
	}
}
