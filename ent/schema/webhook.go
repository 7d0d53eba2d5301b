// Owner: webhooks. An endpoint that receives the events of an account.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/postrider/postrider/ent/schema/shape"
)

// Webhook is one endpoint.
type Webhook struct{ ent.Schema }

// Annotations of the Webhook.
func (Webhook) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true, Delete: true}}
}

// Fields of the Webhook.
func (Webhook) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		field.String("url").NotEmpty(),
		field.String("description").Default(""),
		field.JSON("events", []string{}).Comment("subscribed types; empty: all"),
		field.JSON("filter", &shape.WebhookFilter{}).Optional().
			Comment("which events of these types; null: all"),
		field.JSON("header_names", []string{}).Optional().Comment("names in headers, sorted; null: none"),
		field.Bytes("headers").Optional().Sensitive().
			Comment("header fields of the requests, a JSON object sealed with the master key"),
		field.Bool("enabled").Default(true),
		field.Time("enabled_at").Optional().Nillable().Annotations(entsql.Default("CURRENT_TIMESTAMP")).
			Comment("when it was created or last enabled, by the database clock; it receives only later " +
				"events; null: all events"),
		field.Time("disabled_at").Optional().Nillable(),
		field.String("disabled_reason").Default("").Comment("caller, gone (410), failing; empty while enabled"),
		field.Int("rate_limit").Optional().Nillable().
			Comment("deliveries per second; null if unlimited"),
		field.Time("rate_full_at").Optional().Nillable().
			Comment("when the full rate is available again; each delivery moves this time forward (GCRA)"),
		field.Bytes("secret").Sensitive().Comment("sealed with the master key"),
		field.Bytes("previous_secret").Optional().Nillable().Sensitive().
			Comment("also signs until previous_secret_until"),
		field.Time("previous_secret_until").Optional().Nillable(),
		createdAt(),
		updatedAt(),
	}
}

// Indexes of the Webhook.
func (Webhook) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "id")}
}
