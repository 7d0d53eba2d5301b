// Owner: sms. The number of text messages accepted from an account on one day.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SMSDay is one counter.
type SMSDay struct{ ent.Schema }

// Annotations of the SMSDay.
func (SMSDay) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Annotation{Table: "sms_days"}}
}

// Fields of the SMSDay.
func (SMSDay) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		field.String("day").NotEmpty().Immutable().Comment("UTC by the database clock: 2026-11-22"),
		field.Int("messages").Default(0).Comment("all messages"),
		field.Int("by_operator").Default(0).Comment("messages through the operator's provider"),
	}
}

// Indexes of the SMSDay.
func (SMSDay) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "day").Unique()}
}
