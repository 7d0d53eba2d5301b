// Owner: accounts. The membership of a user in an account, with their role.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Membership links a user to an account. An account has at least one owner.
type Membership struct{ ent.Schema }

// Annotations of the Membership.
func (Membership) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true, Delete: true, Select: true}}
}

// Fields of the Membership.
func (Membership) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		reference("user_id").required(),
		field.Enum("role").Values("owner", "admin", "developer", "billing", "viewer"),
		field.JSON("muted_alerts", []string{}).Optional().
			Comment("topics of alerts that the member switched off; null: none"),
		createdAt(),
	}
}

// Edges of the Membership.
func (Membership) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("account", Account.Type).Ref("memberships").Field("account_id").Unique().Required(),
		edge.From("user", User.Type).Ref("memberships").Field("user_id").Unique().Required(),
	}
}

// Indexes of the Membership.
func (Membership) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "user_id").Unique(), index.Fields("user_id")}
}
