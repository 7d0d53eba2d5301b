// Owner: accounts. A user, who can be a member of any number of accounts.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// User is a person. A row is created when a user follows a mailed link or a link from the operator, so every
// user is confirmed.
type User struct{ ent.Schema }

// Annotations of the User.
func (User) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true}}
}

// Fields of the User.
func (User) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		field.String("email").NotEmpty().Comment("lower case"),
		field.String("name").Default(""),
		field.Bool("operator").Default(false).
			Comment("operator of the installation, who can see all accounts but none of their messages"),
		field.String("language").Default("").
			Comment("language of their mail, as preferred by their browser; empty if unknown"),
		field.Time("disabled_at").Optional().Nillable(),
		field.Time("last_sign_in_at").Optional().Nillable(),
		createdAt(),
		updatedAt(),
	}
}

// Edges of the User.
func (User) Edges() []ent.Edge {
	return []ent.Edge{edge.To("memberships", Membership.Type)}
}

// Indexes of the User.
func (User) Indexes() []ent.Index {
	return []ent.Index{index.Fields("email").Unique()}
}
