// Owner: sending. A delivery attempt, committed before it begins.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Attempt is one delivery attempt. An attempt without an outcome is either
// running or was cut off: its result is unknown, unless it had not started.
type Attempt struct{ ent.Schema }

// Annotations of the Attempt.
func (Attempt) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Delete: true}}
}

// Fields of the Attempt.
func (Attempt) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.Int64("recipient_id").Immutable(),
		reference("email_id").required(),
		reference("account_id").required(),
		field.Int("number").Positive(),
		field.Int64("fence").Immutable(),
		field.Time("started_at").Immutable(),
		field.Time("finished_at").Optional().Nillable(),
		field.Enum("outcome").Values("delivered", "deferred", "bounced", "failed", "unknown", "not_started").
			Optional().Nillable(),
		field.String("phase").Default("").
			Comment("phase in which it ended: dns, connect, greeting, ehlo, starttls, auth, mail, rcpt, data, body"),
		field.Int("code").Optional().Nillable(),
		field.String("enhanced_code").Optional().Nillable(),
		field.String("reply").Default(""),
		field.String("remote_host").Default(""),
		field.String("remote_addr").Default(""),
		field.String("tls").Default("").Comment("protocol version; empty if unencrypted"),
		field.String("tls_policy").Default("").
			Comment("why the attempt required TLS: opportunistic, enforced, mta-sts, dane"),
		field.String("local_addr").Default("").Comment("the address that the connection came from"),
		field.String("way").Default("").Comment("a source address or a smarthost; empty: the machine's own address"),
		field.String("class").Default("").Comment("class of the reply (runtime/mail/bounce); empty if delivered"),
		field.Int32("node").Optional().Nillable().Comment("id of the process that claimed it"),
		field.Bool("ahead").Default(false).Comment("claimed before a connection was free for it"),
		field.Time("in_doubt_at").Optional().Nillable().
			Comment("when the outcome became unknown; an index of finished_at or outcome would change with every attempt"),
	}
}

// Indexes of the Attempt.
func (Attempt) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("email_id"), index.Fields("recipient_id", "fence").Unique(),
		index.Fields("in_doubt_at").StorageKey("attempt_in_doubt").Annotations(entsql.IndexWhere("in_doubt_at IS NOT NULL")),
	}
}
