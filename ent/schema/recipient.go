// Owner: sending. One envelope recipient of an email: the unit of delivery work.
package schema

import (
	"time"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Recipient is one address that an email goes to.
type Recipient struct{ ent.Schema }

// Annotations of the Recipient.
func (Recipient) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Delete: true}}
}

// Fields of the Recipient.
func (Recipient) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("email_id").required(),
		reference("account_id").required(),
		field.Enum("kind").Values("to", "cc", "bcc"),
		field.String("address").NotEmpty().Comment("addr-spec, domain in A-labels"),
		field.String("destination").NotEmpty().Comment("the address's domain, lower case"),
		field.Enum("state").Values("queued", "deferred", "delivered", "bounced", "failed").Default("queued"),
		field.Time("due_at").Optional().Nillable().
			Comment("next attempt; while a worker holds the row, the end of its lease; null once settled"),
		field.Int64("fence").Default(0).
			Comment("increases with each claim; an outcome is stored only under the fence of its claim"),
		field.Int("attempts").Default(0),
		field.Int("code").Optional().Nillable().Comment("SMTP reply code (RFC 5321 section 4.2)"),
		field.String("enhanced_code").Optional().Nillable().Comment("enhanced status code (RFC 3463), such as 5.1.1"),
		field.String("diagnostic").Optional().Nillable(),
		field.String("remote_mta").Optional().Nillable(),
		createdAt(),
		field.Time("queued_at").Default(time.Now).Annotations(entsql.Default("CURRENT_TIMESTAMP")).
			Comment("when it was accepted or released: the start of the 72 hours of retries"),
		field.Time("settled_at").Optional().Nillable(),
		field.Time("delay_notified_at").Optional().Nillable().Comment("time of the last email.delivery_delayed"),
		field.String("lane").Optional().Nillable().
			Comment("set while the row waits for room in a lane (way and destination); null in the common queue and while the row is held"),
		field.Enum("held_by").Values("operator", "account").Optional().Nillable().
			Comment("who holds the row; null if it is not held"),
		field.String("via").Default("").Comment("a route that overrides the usual choice: fallback"),
	}
}

// Edges of the Recipient.
func (Recipient) Edges() []ent.Edge {
	return []ent.Edge{edge.From("email", Email.Type).Ref("recipients").Field("email_id").Unique().Required()}
}

// Indexes of the Recipient.
func (Recipient) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("email_id"),
		index.Fields("due_at").StorageKey("recipient_due").
			Annotations(entsql.IndexWhere("due_at IS NOT NULL AND lane IS NULL AND held_by IS NULL")),
		index.Fields("lane", "due_at").StorageKey("recipient_lane").
			Annotations(entsql.IndexWhere("due_at IS NOT NULL AND lane IS NOT NULL")),
		index.Fields("account_id").StorageKey("recipient_held").
			Annotations(entsql.IndexWhere("due_at IS NOT NULL AND held_by IS NOT NULL")),
	}
}
