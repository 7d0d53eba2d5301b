// Owner: accounts. An API key; only its hash is stored.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// APIKey is a credential of an account.
type APIKey struct{ ent.Schema }

// Annotations of the APIKey.
func (APIKey) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true}}
}

// Fields of the APIKey.
func (APIKey) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		field.String("name").NotEmpty(),
		field.String("prefix").NotEmpty().Comment("first characters of the secret, to identify it"),
		field.Bytes("hash").NotEmpty().Sensitive().Comment("SHA-256 of the whole secret"),
		field.Enum("scope").Values("full", "sending", "read").Default("full"),
		field.Enum("mode").Values("live", "test").Default("live").Comment("test: its emails are captured and not sent"),
		field.JSON("permissions", []string{}).Optional().
			Comment("what the key can do within its scope, such as emails:send; empty: everything"),
		field.JSON("domain_ids", []string{}).Optional().
			Comment("domains that the key can use; empty: all of the account"),
		field.JSON("allowed_ips", []string{}).Optional().
			Comment("networks (CIDR) that the key can be used from; empty: all"),
		field.Time("expires_at").Optional().Nillable(),
		field.Time("last_used_at").Optional().Nillable(),
		field.String("last_used_ip").Optional().Nillable().Comment("address of the last use"),
		field.Time("revoked_at").Optional().Nillable(),
		reference("created_by").optional(),
		createdAt(),
	}
}

// Edges of the APIKey.
func (APIKey) Edges() []ent.Edge {
	return []ent.Edge{edge.From("account", Account.Type).Ref("api_keys").Field("account_id").Unique().Required()}
}

// Indexes of the APIKey.
func (APIKey) Indexes() []ent.Index {
	return []ent.Index{index.Fields("hash").Unique(), index.Fields("account_id", "id")}
}
