// Owner: sms. A number whose owner replied STOP.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SMSOptOut is looked up by hash, so that it still blocks after the number is erased.
type SMSOptOut struct{ ent.Schema }

// Annotations of the SMSOptOut.
func (SMSOptOut) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Annotation{Table: "sms_opt_outs"}}
}

// Fields of the SMSOptOut.
func (SMSOptOut) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		field.Bytes("number_hash").Comment("keyed hash of the number"),
		field.String("number").Optional().Nillable().Comment("E.164; null once erased"),
		field.Enum("reason").Values("reply", "provider").
			Comment("reply: the person replied STOP; provider: the provider reported an opt-out"),
		createdAt(),
	}
}

// Indexes of the SMSOptOut.
func (SMSOptOut) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "number_hash").Unique()}
}
