// Owner: accounts. A customer of this installation, to which all data of the tenant belongs.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Account is a tenant.
type Account struct{ ent.Schema }

// Annotations of the Account.
func (Account) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true, Select: true}}
}

// Fields of the Account.
func (Account) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		field.String("name").NotEmpty(),
		field.String("email").NotEmpty().Comment("the only address that the sandbox sender can send to; lower case"),
		field.String("plan_id").NotEmpty().Default("free"),
		field.Bool("production_unlocked").Default(false).
			Comment("free plan: verified domain and payment method on file"),
		field.Time("payment_method_at").Optional().Nillable().Comment("when the current payment method was added"),
		field.Int("body_retention_days").Positive().Default(30).
			Comment("days after sending until bodies and attachments are deleted"),
		field.Int("record_retention_days").Positive().Default(90).
			Comment("days after sending until the whole email is deleted"),
		field.Bool("unmetered").Default(false).Comment("no rate limit; the development account"),
		field.Time("suspended_at").Optional().Nillable(),
		field.Bool("system").Default(false).
			Comment("the account that sends the installation's own mail; it has no members"),
		field.Bool("require_second_factor").Default(false).
			Comment("members without a second factor can only set one up"),
		field.Int("monthly_limit").Optional().Nillable().Comment("the account's own limit of emails per month"),
		field.Int("stored_bytes").Optional().Nillable().
			Comment("cap on stored bytes set by the operator; overrides the plan's"),
		field.Int("daily_bytes").Optional().Nillable().
			Comment("cap on bytes per day set by the operator; overrides the plan's"),
		field.Time("payment_due_at").Optional().Nillable().
			Comment("when a payment became overdue; overage is then off"),
		field.Time("frozen_at").Optional().Nillable().
			Comment("when a move to another installation began; the account accepts no writes"),
		field.String("moved_to").Optional().Nillable().
			Comment("base URL of the installation that has the account since its move"),
		field.Bool("forward_requests").Default(false).
			Comment("requests with an API key are forwarded to moved_to, instead of redirected"),
		field.String("move_id").Optional().Nillable().
			Comment("SHA-256 of the move code: identifies the move at both installations"),
		field.String("move_code").Optional().Nillable().
			Comment("starts the copy at the target; only the source has it"),
		field.String("move_digest").Optional().Nillable().
			Comment("SHA-256 of the unfinished work in the exported file"),
		field.Bytes("origins").Optional().Nillable().Sensitive().
			Comment("earlier installations with the keys of the moves from there, as JSON, sealed with the master key"),
		field.Time("changed_at").Optional().Nillable().
			Comment("when plan, limits or state were last set, by the database clock"),
		createdAt(),
		updatedAt(),
	}
}

// Edges of the Account.
func (Account) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("memberships", Membership.Type),
		edge.To("api_keys", APIKey.Type),
		edge.From("plan", Plan.Type).Ref("accounts").Field("plan_id").Unique().Required(),
	}
}

// Indexes of the Account.
func (Account) Indexes() []ent.Index {
	return []ent.Index{index.Fields("email")}
}
