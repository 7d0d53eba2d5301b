// Owner: relay. A password for the SMTP relay; only its hash is stored.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SMTPCredential lets a program of an account send over SMTP.
type SMTPCredential struct{ ent.Schema }

// Annotations of the SMTPCredential.
func (SMTPCredential) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true}}
}

// Fields of the SMTPCredential.
func (SMTPCredential) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		field.String("name").NotEmpty(),
		field.Bytes("hash").NotEmpty().Sensitive().Comment("SHA-256 of the whole password, which is 256 random bits"),
		field.Enum("mode").Values("live", "test").Default("live").Comment("test: its emails are captured and not sent"),
		field.JSON("domain_ids", []string{}).Optional().
			Comment("domains that it can send from; empty: all of the account"),
		field.Time("last_used_at").Optional().Nillable(),
		field.Time("revoked_at").Optional().Nillable(),
		reference("created_by").optional(),
		createdAt(),
	}
}

// Indexes of the SMTPCredential.
func (SMTPCredential) Indexes() []ent.Index {
	return []ent.Index{index.Fields("hash").Unique(), index.Fields("account_id", "id")}
}
