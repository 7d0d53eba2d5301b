// Owner: signin. The number of recent failed sign-in attempts.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SignInFailure counts failures for one key of package guessing, such as an email in a network. Its ID is the
// kind of key and a keyed hash of it. The table is unlogged: after a crash of the database the counts start
// over.
type SignInFailure struct{ ent.Schema }

// Fields of the SignInFailure.
func (SignInFailure) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		field.Int("count"),
		field.Time("until").Comment("when the count starts over"),
		field.Time("next_at").Optional().Nillable().
			Comment("when another attempt is allowed, once the limit is reached"),
	}
}

// Indexes of the SignInFailure.
func (SignInFailure) Indexes() []ent.Index {
	return []ent.Index{index.Fields("until")}
}
