// Owner: webhooks. The delivery of one event to one endpoint.
package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// WebhookDelivery is an event for an endpoint, in the log. It outlives the endpoint. While it
// waits it has a WebhookWork.
type WebhookDelivery struct{ ent.Schema }

// Annotations of the WebhookDelivery.
func (WebhookDelivery) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{}}
}

// Fields of the WebhookDelivery.
func (WebhookDelivery) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		reference("webhook_id").required(),
		reference("event_id").required(),
		field.String("event_type").NotEmpty().Immutable(),
		field.Time("event_created_at").Immutable(),
		field.JSON("data", json.RawMessage{}).Optional().
			Comment("payload of a test event, which has no fact; null if the payload is in the fact"),
		field.Enum("state").Values("pending", "delivered", "failed").Default("pending"),
		field.Bool("failed").Optional().Nillable().
			Comment("true if the delivery failed, else null; the index of failed deliveries covers only " +
				"these, so the common path changes no index"),
		field.Time("due_at").Optional().Nillable().
			Comment("next attempt, as determined by the latest one; null once settled"),
		field.Int("attempts").Default(0).Comment("number of finished attempts"),
		field.Int("replays").Default(0),
		field.Int("status_code").Optional().Nillable().Comment("status code of the latest attempt"),
		field.String("error").Default("").Comment("error of the latest attempt, if it has no status code"),
		createdAt(),
		field.Time("settled_at").Optional().Nillable(),
	}
}

// Indexes of the WebhookDelivery.
func (WebhookDelivery) Indexes() []ent.Index {
	return []ent.Index{
		// No index has a column that an attempt changes, so only a permanent failure changes an index.
		index.Fields("event_id", "webhook_id").Unique(),
		index.Fields("webhook_id", "id"),
		index.Fields("webhook_id", "id").StorageKey("webhookdelivery_failed").
			Annotations(entsql.IndexWhere("failed IS NOT NULL")),
		index.Fields("account_id").StorageKey("webhookdelivery_tests").
			Annotations(entsql.IndexWhere("data IS NOT NULL")),
	}
}
