// Owner: outbound. A server that relays the mail of an account, or of one of its domains, instead of direct
// delivery.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Smarthost is one such server, configured by the operator.
type Smarthost struct{ ent.Schema }

// Annotations of the Smarthost.
func (Smarthost) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true, Delete: true}}
}

// Fields of the Smarthost.
func (Smarthost) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		reference("domain_id").optional(),
		field.String("host").NotEmpty().Comment("host name in A-labels, or an address"),
		field.Int("port"),
		field.Bool("implicit_tls").Default(false).Comment("implicit TLS (RFC 8314)"),
		field.Bool("verify").Default(true).Comment("verify the certificate whenever TLS is required"),
		field.String("username").Default(""),
		field.Bytes("password").Optional().Nillable().Sensitive().Comment("sealed with the master key"),
		field.Enum("use").Values("always", "fallback").Default("always").
			Comment("fallback: after a direct attempt that the receiving side refused because of the sending address, or that reached no server"),
		createdAt(),
		updatedAt(),
	}
}

// Indexes of the Smarthost.
func (Smarthost) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id")}
}
