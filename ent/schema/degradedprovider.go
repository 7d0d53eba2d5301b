// Owner: deliverability. A mailbox provider that refuses or defers the mail of a domain.
package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// DegradedProvider exists from when a provider starts to refuse or defer the mail of a domain until it has recovered.
// Its event domain.deliverability_degraded is published in the transaction that creates it.
type DegradedProvider struct{ ent.Schema }

// Fields of the DegradedProvider.
func (DegradedProvider) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("domain_id").required(),
		field.String("provider").NotEmpty().Immutable().Comment("name, or the domain of the recipients"),
		field.String("problem").NotEmpty().Immutable().Comment("refused or deferred"),
		field.JSON("data", json.RawMessage{}).Immutable().Comment("payload of the event"),
		createdAt(),
	}
}

// Edges of the DegradedProvider.
func (DegradedProvider) Edges() []ent.Edge {
	return []ent.Edge{edge.From("domain", Domain.Type).Ref("degraded_providers").Field("domain_id").Unique().Required()}
}

// Indexes of the DegradedProvider.
func (DegradedProvider) Indexes() []ent.Index {
	return []ent.Index{index.Fields("domain_id", "provider", "problem").Unique()}
}
