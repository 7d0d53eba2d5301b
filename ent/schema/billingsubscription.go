// Owner: billing. A subscription of an account at the payment provider, as of the last query.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// BillingSubscription uses the provider's ID.
type BillingSubscription struct{ ent.Schema }

// Annotations of the BillingSubscription.
func (BillingSubscription) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{}}
}

// Fields of the BillingSubscription.
func (BillingSubscription) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		field.String("plan_id").Default("").Comment("empty if its price belongs to no known plan"),
		field.String("status").NotEmpty(),
		field.String("item_id").Default("").Comment("si_…, the item with the plan's price"),
		field.Bool("metered").Default(false).Comment("whether it has a metered price"),
		field.Time("metered_since").Optional().Nillable(),
		field.Time("metered_until").Optional().Nillable().
			Comment("when usage stopped being billed; null if it is billed, or never was"),
		field.Time("period_start").Optional().Nillable(),
		field.Time("period_end").Optional().Nillable(),
		field.Time("cancel_at").Optional().Nillable(),
		field.String("schedule_id").Default(""),
		field.String("pending_plan").Default(""),
		field.Time("pending_at").Optional().Nillable(),
		field.Time("past_due_since").Optional().Nillable().
			Comment("when this was first observed, by the database clock"),
		createdAt(),
		updatedAt(),
	}
}

// Indexes of the BillingSubscription.
func (BillingSubscription) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id")}
}
