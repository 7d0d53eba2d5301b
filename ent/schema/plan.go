// Owner: accounts. The limits of an account per second, day and month, as data.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
)

// Plan contains the limits of one plan. Rows are seeded by a migration; operators may change them.
type Plan struct{ ent.Schema }

// Annotations of the Plan.
func (Plan) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{}}
}

// Fields of the Plan.
func (Plan) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").Immutable().NotEmpty().Comment("free, pro, scale, pool, dedicated"),
		field.String("name").NotEmpty(),
		field.Int("requests_per_second").Positive(),
		field.Int("daily_emails").Optional().Nillable().Comment("hard cap; null if unlimited"),
		field.Int("monthly_emails").Optional().Nillable().Comment("hard cap; null if unlimited"),
		field.Int("daily_sms").Optional().Nillable().
			Comment("hard cap on text messages through the operator's provider; null if unlimited"),
		field.Int("stored_bytes").Optional().Nillable().Comment("hard cap on stored bytes; null if unlimited"),
		field.Int("daily_bytes").Optional().Nillable().
			Comment("hard cap on bytes stored per day (UTC); null if unlimited"),
		field.Int("max_domains").Positive(),
		field.Bool("sandboxed").Default(false).Comment("sends only to the account email until production is unlocked"),
		field.Int("rank").Default(0).Comment("a change to a higher rank is an upgrade"),
		field.Bool("self_service").Default(false).Comment("whether customers can choose it"),
		field.Int("included_emails").Optional().Nillable().
			Comment("emails per month included in the price; null if not configured"),
		field.Bool("overage").Default(false).Comment("emails beyond the included volume are metered"),
		field.Time("changed_at").Optional().Nillable().Comment("when it was last set, by the database clock"),
		createdAt(),
	}
}

// Edges of the Plan.
func (Plan) Edges() []ent.Edge {
	return []ent.Edge{edge.To("accounts", Account.Type)}
}
