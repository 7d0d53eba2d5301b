// Owner: webhooks. One delivery attempt, committed before it begins.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// WebhookAttempt is one POST. An attempt without an outcome is either running or was cut off. In the latter
// case, it is unknown whether the endpoint received the event.
type WebhookAttempt struct{ ent.Schema }

// Annotations of the WebhookAttempt.
func (WebhookAttempt) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{}}
}

// Fields of the WebhookAttempt.
func (WebhookAttempt) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("delivery_id").required(),
		reference("account_id").required(),
		field.Int("number").Positive(),
		field.Int64("fence").Immutable(),
		field.Time("started_at").Immutable(),
		field.Time("finished_at").Optional().Nillable(),
		field.Enum("outcome").Values("delivered", "failed", "unknown").Optional().Nillable(),
		field.Int("status_code").Optional().Nillable(),
		field.String("error").Default("").Comment("error if there was no response"),
		field.String("response").Default("").Comment("start of the response body, at most 4 KiB"),
		field.String("response_headers").Optional().
			Comment("header fields of the answer, one a line, at most 2 KiB; null: there are none, or the event was erased"),
		field.String("remote_addr").Default(""),
		field.Int("duration_ms").Optional().Nillable(),
		field.Int32("node").Optional().Nillable().Comment("id of the process that claimed it"),
	}
}

// Indexes of the WebhookAttempt.
func (WebhookAttempt) Indexes() []ent.Index {
	return []ent.Index{index.Fields("delivery_id", "fence").Unique(), index.Fields("account_id")}
}
