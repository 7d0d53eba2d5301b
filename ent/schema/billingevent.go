// Owner: billing. An event of the payment provider; it only identifies the customer to query.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// BillingEvent uses the provider's ID.
type BillingEvent struct{ ent.Schema }

// Fields of the BillingEvent.
func (BillingEvent) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		field.String("type").Immutable(),
		field.String("api_version").Immutable().Default(""),
		field.String("customer_id").Immutable().Default(""),
		field.Time("received_at"),
	}
}

// Indexes of the BillingEvent.
func (BillingEvent) Indexes() []ent.Index {
	return []ent.Index{index.Fields("received_at")}
}
