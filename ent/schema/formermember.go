// Owner: accounts. The former membership of a user in an account, with their last role.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// FormerMember limits the keys and credentials that a former member created. The row is deleted when they join
// again.
type FormerMember struct{ ent.Schema }

// Fields of the FormerMember.
func (FormerMember) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		reference("user_id").required(),
		field.Enum("role").Values("owner", "admin", "developer", "billing", "viewer"),
		createdAt(),
	}
}

// Indexes of the FormerMember.
func (FormerMember) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "user_id").Unique()}
}
