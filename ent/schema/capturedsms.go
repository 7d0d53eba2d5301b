// Owner: devinbox. A text message that development mode captured instead of sending it.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// CapturedSMS is a message as a provider would have received it.
type CapturedSMS struct{ ent.Schema }

// Annotations of the CapturedSMS.
func (CapturedSMS) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Annotation{Table: "captured_sms"}, Builders{}}
}

// Fields of the CapturedSMS.
func (CapturedSMS) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.Time("received_at").Immutable().Annotations(entsql.Default("CURRENT_TIMESTAMP")),
		field.String("message_id").Unique().Immutable().Comment("sms_…"),
		field.String("to").Immutable(),
		field.String("from").Default("").Immutable(),
		field.String("text").Immutable(),
		field.String("encoding").Immutable().Comment("gsm7, ucs2"),
		field.Int("segments").Immutable(),
	}
}
