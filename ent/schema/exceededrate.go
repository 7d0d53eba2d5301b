// Owner: statistics. A bounce or complaint rate of an account that exceeds a limit.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ExceededRate exists from when a rate exceeds a limit until it is below it again, at least for a day. Its event
// account.rate_exceeded is published in the transaction that creates it.
type ExceededRate struct{ ent.Schema }

// Fields of the ExceededRate.
func (ExceededRate) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		field.String("rate").NotEmpty().Immutable().Comment("bounce or complaint"),
		field.Int("limit_ppm").Immutable().Comment("the limit, in recipients per million"),
		createdAt(),
	}
}

// Indexes of the ExceededRate.
func (ExceededRate) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "rate", "limit_ppm").Unique()}
}
