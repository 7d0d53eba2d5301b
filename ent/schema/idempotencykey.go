// Owner: idempotency. The stored response to a request with an Idempotency-Key.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// IdempotencyKey is one used key of an account.
type IdempotencyKey struct{ ent.Schema }

// Fields of the IdempotencyKey.
func (IdempotencyKey) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		field.String("key").NotEmpty().MaxLen(255).Immutable(),
		field.Bytes("request_hash").Immutable().Comment("SHA-256 of operation and canonical body"),
		field.String("operation").Default("").
			Comment("operation of the request, such as POST /api/emails; empty if stored by an older version"),
		field.Int("status").Comment("HTTP status of the response"),
		field.Bytes("body").Comment("body of the response"),
		createdAt(),
		field.Time("expires_at").Immutable(),
	}
}

// Indexes of the IdempotencyKey.
func (IdempotencyKey) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "key").Unique(), index.Fields("expires_at")}
}
