// Owner: inbound. The address rules of a receiving domain.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/postrider/postrider/ent/schema/shape"
)

// AddressRuleSet has the rules of one domain. A domain without a row accepts every address.
type AddressRuleSet struct{ ent.Schema }

// Annotations of the AddressRuleSet.
func (AddressRuleSet) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{}}
}

// Fields of the AddressRuleSet.
func (AddressRuleSet) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		reference("domain_id").required(),
		field.JSON("rules", []shape.AddressRule{}).Comment("the first matching rule decides"),
		field.Bool("catch_all").Default(true).
			Comment("whether an address that no rule matches is accepted or refused"),
		updatedAt(),
	}
}

// Indexes of the AddressRuleSet.
func (AddressRuleSet) Indexes() []ent.Index {
	return []ent.Index{index.Fields("domain_id").Unique(), index.Fields("account_id")}
}
