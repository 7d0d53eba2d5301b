// Owner: signin. The session of a signed-in user in a browser.
package schema

import (
	"time"

	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Session is looked up by the hash of its cookie.
type Session struct{ ent.Schema }

// Annotations of the Session.
func (Session) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true}}
}

// Fields of the Session.
func (Session) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		field.Bytes("token_hash").NotEmpty().Sensitive().Comment("SHA-256 of the cookie"),
		reference("user_id").required(),
		reference("account_id").optional(),
		field.Enum("method").Values("password", "passkey", "oidc", "link"),
		field.Bool("second_factor").Default(false).Comment("whether a second factor was used"),
		field.Time("confirmed_at").Default(time.Now).Comment("when the user last entered a password, passkey or code"),
		field.String("ip").Default(""),
		field.String("user_agent").Default(""),
		createdAt(),
		field.Time("last_used_at").Default(time.Now).Comment("accurate to within a minute"),
		field.Time("expires_at").Comment("when the session ends, even if it is in use"),
		field.Time("revoked_at").Optional().Nillable(),
	}
}

// Indexes of the Session.
func (Session) Indexes() []ent.Index {
	return []ent.Index{index.Fields("token_hash").Unique(), index.Fields("user_id", "id"), index.Fields("expires_at")}
}
