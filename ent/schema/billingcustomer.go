// Owner: billing. The payment provider's customer of an account, with its latest state.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// BillingCustomer shares the ID of its account. An account that has never used billing has no row.
type BillingCustomer struct{ ent.Schema }

// Annotations of the BillingCustomer.
func (BillingCustomer) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{}}
}

// Fields of the BillingCustomer.
func (BillingCustomer) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		field.String("customer_id").Optional().Nillable().Unique().
			Comment("cus_…; null until the provider has responded"),
		field.String("billing_email").Default("").Comment("if empty, the email of the account is used"),
		field.String("card_brand").Default(""),
		field.String("card_last4").Default(""),
		field.Int("card_exp_month").Default(0),
		field.Int("card_exp_year").Default(0),
		field.Bool("payment_method").Default(false).
			Comment("whether a default payment method is on file that has not expired"),
		field.String("checkout_id").Default("").Comment("open checkout session; empty if there is none"),
		field.String("checkout_kind").Default("").Comment("card, or the plan that is being bought"),
		field.String("checkout_url").Default(""),
		field.Time("checkout_expires_at").Optional().Nillable(),
		field.Int64("write_no").Default(0).
			Comment("number of the last write at the provider; part of its idempotency key"),
		field.Time("sync_due_at").Optional().Nillable().Comment("when the provider is queried next"),
		field.Time("asked_at").Optional().Nillable().Comment("when the account last requested a query"),
		field.Time("claimed_until").Optional().Nillable().Comment("end of the lease of the querying process"),
		field.Int64("fence").Default(0),
		field.Int("failures").Default(0).Comment("consecutive failures"),
		field.Time("writing_until").Optional().Nillable().Comment("end of the lease of a change in progress"),
		field.Time("wrote_at").Optional().Nillable().Comment("time of the last change made here"),
		field.String("entitled_plan").Default("").
			Comment("plan according to the latest state at the provider; empty if the operator decides"),
		field.Time("synced_at").Optional().Nillable(),
		field.Strings("problems").Optional().Comment("problems that need the operator's attention"),
		createdAt(),
		updatedAt(),
	}
}

// Indexes of the BillingCustomer.
func (BillingCustomer) Indexes() []ent.Index {
	return []ent.Index{index.Fields("sync_due_at").StorageKey("billingcustomer_due")}
}
