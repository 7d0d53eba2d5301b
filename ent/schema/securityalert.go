// Owner: accounts. A security alert by mail to a user about their sign-in or team membership.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SecurityAlert is written in the transaction of the change that it reports. due_at is the next attempt to mail it.
type SecurityAlert struct{ ent.Schema }

// Fields of the SecurityAlert.
func (SecurityAlert) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("user_id").optional(),
		field.String("email").NotEmpty().Comment("recipient of the email, in lower case"),
		field.String("kind").NotEmpty(),
		field.JSON("names", map[string]string{}).Comment("values for the email; never contains a secret"),
		field.Time("due_at").Optional().Nillable().
			Comment("when its email is due; null once it is created or abandoned"),
		field.Time("mailed_at").Optional().Nillable(),
		field.Int("attempts").Default(0).Comment("attempts to create the email"),
		createdAt(),
	}
}

// Indexes of the SecurityAlert.
func (SecurityAlert) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("user_id", "kind"), index.Fields("created_at"),
		index.Fields("due_at").StorageKey("securityalert_due").Annotations(entsql.IndexWhere("due_at IS NOT NULL")),
	}
}
