// Owner: inbound. A message received for one recipient at a receiving domain.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/postrider/postrider/ent/schema/shape"
)

// ReceivedEmail is one message for one envelope recipient. It has the columns for lists and
// filters; bodies and files are read from the raw message.
type ReceivedEmail struct{ ent.Schema }

// Annotations of the ReceivedEmail.
func (ReceivedEmail) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Select: true}}
}

// Fields of the ReceivedEmail.
func (ReceivedEmail) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		reference("domain_id").required(),
		field.Int64("content_id"),
		field.String("rcpt_to").NotEmpty().Comment("envelope recipient, domain in A-labels"),
		field.String("mail_from").Comment("envelope sender; empty for the null return path"),
		field.String("from").Comment("display form; the raw text if it is not an address"),
		field.String("from_address").
			Comment("addr-spec of From, with the domain in lower case; empty if it cannot be parsed"),
		field.JSON("to", []string{}).Comment("display forms"),
		field.JSON("cc", []string{}),
		field.JSON("reply_to", []string{}),
		field.String("subject"),
		field.String("message_id").Comment("without angle brackets; empty if the message has none"),
		field.String("in_reply_to").Optional().Nillable(),
		field.JSON("references", []string{}),
		field.JSON("authentication", shape.Authentication{}),
		field.Enum("spam_status").Values("ham", "spam", "unknown").Default("unknown"),
		field.Float("spam_score").Optional().Nillable(),
		field.Bool("auto_submitted").Default(false).Comment("automatic reply or report (RFC 3834)"),
		field.Int64("size").Comment("size of the raw message in bytes"),
		field.JSON("attachments", []shape.ReceivedFile{}),
		field.JSON("defects", []string{}).Comment("parts of the message that could not be read"),
		field.String("remote_ip"),
		field.String("helo"),
		field.String("tls").Comment("TLS version of the connection; empty if unencrypted"),
		field.String("search").Optional().Nillable().SchemaType(map[string]string{dialect.Postgres: "tsvector"}).
			Comment("words of subject, addresses and text, and exact lexemes for filters"),
		field.Time("received_at").Immutable(),
	}
}

// Edges of the ReceivedEmail.
func (ReceivedEmail) Edges() []ent.Edge {
	return []ent.Edge{edge.From("content", ReceivedContent.Type).Ref("emails").Field("content_id").Unique().Required()}
}

// Indexes of the ReceivedEmail.
func (ReceivedEmail) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
		index.Fields("content_id"),
		index.Fields("domain_id", "id"),
		index.Fields("search").StorageKey("receivedemail_search").Annotations(entsql.IndexType("GIN")),
	}
}
