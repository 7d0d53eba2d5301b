// Owner: tracking. A target that an operator has flagged: tracked links do not redirect to it.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// FlaggedLink is a host or a URL prefix.
type FlaggedLink struct{ ent.Schema }

// Fields of the FlaggedLink.
func (FlaggedLink) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.String("target").Unique().Immutable().NotEmpty().
			Comment("a host, which covers its subdomains, or a URL prefix; normalized"),
		field.String("reason").Default("").Comment("for operators only"),
		createdAt(),
	}
}
