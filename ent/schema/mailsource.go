// Owner: deliverability. What DNS says about a server that reports name.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// MailSource is one server. It belongs to no account, because it contains public data only.
type MailSource struct{ ent.Schema }

// Fields of the MailSource.
func (MailSource) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.String("source").NotEmpty().Immutable().Unique().Comment("IP address"),
		field.String("name").Default("").Comment("verified reverse name; empty if it has none"),
		field.Bool("ours").Default(false).Comment("whether the SPF record of this installation contains it"),
		field.Time("checked_at"),
	}
}

// Indexes of the MailSource.
func (MailSource) Indexes() []ent.Index { return []ent.Index{index.Fields("checked_at")} }
