// Owner: sms. The SMS settings of an account: its provider and the allowed countries.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"

	"github.com/postrider/postrider/ent/schema/shape"
)

// SMSSettings shares the ID of its account. An account without a row uses the operator's provider, if there is
// one, and cannot send to any country.
type SMSSettings struct{ ent.Schema }

// Annotations of the SMSSettings.
func (SMSSettings) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Annotation{Table: "sms_settings"}, Builders{}}
}

// Fields of the SMSSettings.
func (SMSSettings) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		field.Enum("provider").Values("operator", "none", "twilio", "http").Default("operator"),
		field.JSON("config", shape.SMSProvider{}).Comment("settings of the account's own provider, except its secrets"),
		field.Bytes("credentials").Optional().Nillable().Sensitive().Comment("sealed with the master key"),
		field.JSON("countries", []string{}).Comment("countries that messages can be sent to (ISO 3166); empty: none"),
		field.Int("daily_cap").Default(100).Comment("messages per UTC day"),
		createdAt(),
		updatedAt(),
	}
}
