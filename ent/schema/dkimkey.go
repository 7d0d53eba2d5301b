// Owner: domains. A signing key of a domain: active, pending or retired.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// DKIMKey is a signing key.
type DKIMKey struct{ ent.Schema }

// Annotations of the DKIMKey.
func (DKIMKey) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Delete: true}}
}

// Fields of the DKIMKey.
func (DKIMKey) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("domain_id").required(),
		field.String("selector").NotEmpty().Immutable(),
		field.Enum("algorithm").Values("rsa-sha256", "ed25519-sha256").Immutable(),
		field.Bytes("private_key").NotEmpty().Sensitive().
			Comment("PKCS #8, sealed by runtime/base/secret with the domain's id"),
		field.String("public_key").NotEmpty().Immutable().Comment("the p= value of the record"),
		field.Enum("state").Values("pending", "active", "retired").Default("pending").
			Comment("pending: its record was not found yet; active: it signs"),
		createdAt(),
		field.Time("activated_at").Optional().Nillable(),
		field.Time("retired_at").Optional().Nillable(),
	}
}

// Edges of the DKIMKey.
func (DKIMKey) Edges() []ent.Edge {
	return []ent.Edge{edge.From("domain", Domain.Type).Ref("keys").Field("domain_id").Unique().Required()}
}

// Indexes of the DKIMKey.
func (DKIMKey) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("domain_id", "selector").Unique(),
		// One key signs and at most one is pending, even with concurrent rotations.
		index.Fields("domain_id", "algorithm", "state").Unique().StorageKey("dkimkey_one_in_use").
			Annotations(entsql.IndexWhere("state <> 'retired'")),
	}
}
