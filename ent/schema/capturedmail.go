// Owner: devinbox. An email that test mode or development mode captured instead of sending it.
package schema

import (
	"time"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// CapturedMail is a message as received by the development inbox.
type CapturedMail struct{ ent.Schema }

// Annotations of the CapturedMail.
func (CapturedMail) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Delete: true, Select: true}}
}

// Fields of the CapturedMail.
func (CapturedMail) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.Time("received_at").Immutable().Default(time.Now).Annotations(entsql.Default("CURRENT_TIMESTAMP")),
		field.String("mail_from").Immutable().Comment("envelope sender"),
		field.JSON("rcpt_to", []string{}).Immutable().Comment("envelope recipients"),
		field.String("from").Default("").Immutable().Comment("From, decoded"),
		field.String("subject").Default("").Immutable().Comment("Subject, decoded"),
		field.String("message_id").Default("").Immutable(),
		field.Int("size").NonNegative().Immutable(),
		field.Bytes("raw").Immutable(),
		reference("account_id").optional(), // the test tenant of the sender; null: captured by development mode
	}
}

// Indexes of the CapturedMail.
func (CapturedMail) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "id")}
}
