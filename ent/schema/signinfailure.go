// Owner: signin. The number of recent failed sign-in attempts.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SignInFailure has what is counted, and a keyed hash of it, as its id. It counts failures by what
// package guessing names. The table is unlogged: after a crash of the database the counts begin again.
type SignInFailure struct{ ent.Schema }

// Fields of the SignInFailure.
func (SignInFailure) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		field.Int("count"),
		field.Time("until").Comment("when the count begins again"),
		field.Time("next_at").Optional().Nillable().Comment("when one more attempt is judged, once the count is full"),
	}
}

// Indexes of the SignInFailure.
func (SignInFailure) Indexes() []ent.Index {
	return []ent.Index{index.Fields("until")}
}
