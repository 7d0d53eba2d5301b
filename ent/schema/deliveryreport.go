// Owner: bounces. A report sent to one of our return paths: a DSN, a complaint or an automatic reply.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// DeliveryReport is one report about one recipient. The message itself is not kept.
type DeliveryReport struct{ ent.Schema }

// Annotations of the DeliveryReport.
func (DeliveryReport) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true}}
}

// Fields of the DeliveryReport.
func (DeliveryReport) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		reference("email_id").required(),
		field.Int64("recipient_id").Immutable(),
		field.Enum("kind").Values("bounce", "complaint", "delay", "delivered", "automatic", "unreadable"),
		field.Bool("effective").Default(false).Comment("whether it changed a state or was published as a fact"),
		field.Bytes("digest").Immutable().Comment("hash of the report: a duplicate has no effect"),
		field.String("status").Default("").Comment("enhanced status code (RFC 3463), such as 5.1.1"),
		field.String("diagnostic").Default(""),
		field.String("class").Default("").Comment("class of the bounce (runtime/mail/bounce)"),
		field.String("reporter").Default("").Comment("Reporting-MTA, or the source of a complaint"),
		field.String("remote_addr").Default("").Comment("the client that delivered it"),
		createdAt(),
	}
}

// Edges of the DeliveryReport.
func (DeliveryReport) Edges() []ent.Edge {
	return []ent.Edge{edge.From("email", Email.Type).Ref("reports").Field("email_id").Unique().Required()}
}

// Indexes of the DeliveryReport.
func (DeliveryReport) Indexes() []ent.Index {
	return []ent.Index{index.Fields("email_id"), index.Fields("recipient_id", "digest").Unique()}
}
