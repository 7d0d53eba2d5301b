// Owner: webhooks. A pending delivery to an endpoint, and its due time.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// WebhookWork shares the ID of its delivery and is deleted when the delivery is settled. It is narrow, because
// each attempt changes it twice. The row of the delivery, which is the log, changes once.
type WebhookWork struct{ ent.Schema }

// Annotations of the WebhookWork.
func (WebhookWork) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{}}
}

// Fields of the WebhookWork.
func (WebhookWork) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("webhook_id").required(),
		field.Time("due_at").Comment("next attempt; while a worker holds the row, the end of its lease"),
		field.Int64("fence").Default(0),
		field.Int("attempts").Default(0).Comment("total number of attempts"),
		field.Int("round").Default(0).
			Comment("attempts since it was last queued or replayed, as counted by the retry schedule"),
	}
}

// Indexes of the WebhookWork.
func (WebhookWork) Indexes() []ent.Index {
	return []ent.Index{index.Fields("webhook_id", "due_at").StorageKey("webhookwork_due")}
}
