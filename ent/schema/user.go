// Owner: accounts. A person who belongs to an account.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// User is a person of an account.
type User struct{ ent.Schema }

// Fields of the User.
func (User) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		field.String("email").NotEmpty().Comment("lower case"),
		field.String("name").Default(""),
		field.Enum("role").Values("owner", "member").Default("member"),
		createdAt(),
		updatedAt(),
	}
}

// Edges of the User.
func (User) Edges() []ent.Edge {
	return []ent.Edge{edge.From("account", Account.Type).Ref("users").Field("account_id").Unique().Required()}
}

// Indexes of the User.
func (User) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "email").Unique()}
}
