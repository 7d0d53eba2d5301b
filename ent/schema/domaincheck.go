// Owner: domains. The result of one check of a domain's records.
package schema

import (
	"time"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/postrider/postrider/ent/schema/shape"
)

// DomainCheck is one check.
type DomainCheck struct{ ent.Schema }

// Annotations of the DomainCheck.
func (DomainCheck) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Delete: true}}
}

// Fields of the DomainCheck.
func (DomainCheck) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("domain_id").required(),
		reference("account_id").required(),
		field.Time("checked_at").Immutable().Default(time.Now).Annotations(entsql.Default("CURRENT_TIMESTAMP")),
		field.String("status").NotEmpty().Immutable().Comment("status of the domain after the check"),
		field.JSON("records", []shape.RecordState{}).Immutable(),
	}
}

// Indexes of the DomainCheck.
func (DomainCheck) Indexes() []ent.Index {
	return []ent.Index{index.Fields("domain_id", "checked_at")}
}
