// Owner: sms. A text message to one number, with its outcome.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SMSMessage is stored before it is sent. A message with an unknown outcome was submitted to the provider
// without a response, and is never sent again.
type SMSMessage struct{ ent.Schema }

// Annotations of the SMSMessage.
func (SMSMessage) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Annotation{Table: "sms_messages"}, Builders{}}
}

// Fields of the SMSMessage.
func (SMSMessage) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		field.String("to").NotEmpty().Immutable().Comment("E.164"),
		field.Bytes("number_hash").Immutable().Comment("keyed hash of the number"),
		field.String("region").Immutable().
			Comment("country of the number (ISO 3166, in capitals); 001 for numbers of no country"),
		field.String("from").Default("").Immutable().Comment("sender set by the step; empty: the provider's default"),
		field.String("text").Immutable(),
		field.Enum("encoding").Values("gsm7", "ucs2").Immutable(),
		field.Int("segments").Positive().Immutable(),
		field.Bool("own_provider").Default(false).
			Comment("whether the account's own provider is used, as of the last attempt, or else of the acceptance"),
		field.String("provider").Default("").Comment("capture, twilio, http"),
		field.String("provider_id").Default("").Comment("message id at the provider"),
		field.Enum("status").Values("queued", "sent", "delivered", "failed", "unknown").Default("queued"),
		field.String("error_code").Default("").Comment("code of the reason why it failed or is unknown"),
		field.String("error").Default("").Comment("the reason as a sentence"),
		field.Int("attempts").Default(0),
		field.Time("due_at").Optional().Nillable().
			Comment("next attempt; while a worker holds the row, the end of its lease; null once settled"),
		field.Int64("fence").Default(0),
		field.Time("expires_at").Comment("no attempt is made after this time"),
		reference("automation_id").optional(),
		reference("run_id").optional(),
		field.Int("version").Default(0).Comment("version of the automation"),
		field.Int("step_index").Default(0),
		field.String("user_id").Optional().Nillable().Comment("the person of the run"),
		field.String("email_key").Optional().Nillable().
			Comment("the person's address, in the form used for comparison"),
		createdAt(),
		field.Time("sent_at").Optional().Nillable(),
		field.Time("settled_at").Optional().Nillable().
			Comment("final for us, but a receipt may still change it"),
	}
}

// Indexes of the SMSMessage.
func (SMSMessage) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
		index.Fields("account_id", "number_hash", "id"),
		index.Fields("account_id", "due_at").StorageKey("smsmessage_due").
			Annotations(entsql.IndexWhere("due_at IS NOT NULL")),
		index.Fields("run_id").StorageKey("smsmessage_run").Annotations(entsql.IndexWhere("run_id IS NOT NULL")),
		index.Fields("automation_id", "version", "step_index", "status").StorageKey("smsmessage_step").
			Annotations(entsql.IndexWhere("automation_id IS NOT NULL")),
		index.Fields("account_id", "email_key").StorageKey("smsmessage_email").
			Annotations(entsql.IndexWhere("email_key IS NOT NULL")),
		index.Fields("account_id", "user_id").StorageKey("smsmessage_user").
			Annotations(entsql.IndexWhere("user_id IS NOT NULL")),
	}
}
