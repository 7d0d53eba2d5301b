// Owner: sms. A request that submits a text message to a provider, committed before it is sent.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SMSAttempt is one request. A request without an outcome is either running or was cut off. In the latter case,
// it is unknown whether the provider accepted the message.
type SMSAttempt struct{ ent.Schema }

// Annotations of the SMSAttempt.
func (SMSAttempt) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Annotation{Table: "sms_attempts"}, Builders{}}
}

// Fields of the SMSAttempt.
func (SMSAttempt) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("message_id").required(),
		reference("account_id").required(),
		field.Int("number").Positive(),
		field.Int64("fence").Immutable(),
		field.String("provider").Immutable(),
		field.Time("started_at").Immutable(),
		field.Time("finished_at").Optional().Nillable(),
		field.Enum("outcome").Values("sent", "temporary", "failed", "unknown").Optional().Nillable(),
		field.Int("status_code").Optional().Nillable(),
		field.String("error").Default("").
			Comment("error from the provider, or why there was no response"),
		field.Int("duration_ms").Optional().Nillable(),
		field.Int32("node").Optional().Nillable().Comment("id of the process that makes it"),
	}
}

// Indexes of the SMSAttempt.
func (SMSAttempt) Indexes() []ent.Index {
	return []ent.Index{index.Fields("message_id", "fence").Unique()}
}
