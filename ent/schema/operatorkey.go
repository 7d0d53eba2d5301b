// Owner: accounts. A credential of the installation's operator; only its hash is stored.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// OperatorKey manages the installation, and acts for any account. It is a table of its own, so that no query for the
// key of an account can find it.
type OperatorKey struct{ ent.Schema }

// Annotations of the OperatorKey.
func (OperatorKey) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true}}
}

// Fields of the OperatorKey.
func (OperatorKey) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		field.String("name").NotEmpty(),
		field.String("prefix").NotEmpty().Comment("first characters of the secret, to identify it"),
		field.Bytes("hash").NotEmpty().Sensitive().Comment("SHA-256 of the whole secret"),
		field.JSON("allowed_ips", []string{}).Optional().
			Comment("networks (CIDR) that the key can be used from; empty: all"),
		field.Time("expires_at").Optional().Nillable(),
		field.Time("last_used_at").Optional().Nillable(),
		field.String("last_used_ip").Optional().Nillable().Comment("address of the last use"),
		field.Time("revoked_at").Optional().Nillable(),
		reference("created_by").optional(), // null: the command line
		createdAt(),
	}
}

// Indexes of the OperatorKey.
func (OperatorKey) Indexes() []ent.Index {
	return []ent.Index{index.Fields("hash").Unique()}
}
