// Owner: automations. A custom event reported by a program of the account.
package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/postrider/postrider/ent/schema/shape"
)

// CustomEvent is one POST /events, or an event that the service itself reports to automations.
type CustomEvent struct{ ent.Schema }

// Annotations of the CustomEvent.
func (CustomEvent) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{}}
}

// Fields of the CustomEvent.
func (CustomEvent) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		field.String("name").NotEmpty().Immutable(),
		field.String("user_id").Optional().Nillable(),
		field.String("email").Optional().Nillable(),
		field.String("email_key").Optional().Nillable().Comment("the address in the form used for comparison"),
		field.JSON("data", json.RawMessage{}).Optional(),
		field.String("source").Default("api"),
		field.Int("depth").Default(0).Comment("length of the chain of runs that led to this event"),
		field.JSON("matches", []shape.EventMatch{}).Optional().Comment("effects on automations"),
		field.Bool("pending").Default(false).
			Comment("built-in event that has not been applied yet"),
		field.Bool("goal_pending").Default(false).
			Comment("goal of an automation that has not converted runs yet"),
		field.Bool("trial").Default(false).Comment("tests one automation; other automations ignore it"),
		createdAt(),
	}
}

// Indexes of the CustomEvent.
func (CustomEvent) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
		index.Fields("account_id", "name", "id"),
		index.Fields("id").StorageKey("customevent_pending").Annotations(entsql.IndexWhere("pending")),
		index.Fields("id").StorageKey("customevent_goal_pending").Annotations(entsql.IndexWhere("goal_pending")),
		index.Fields("account_id", "user_id", "created_at").StorageKey("customevent_user").
			Annotations(entsql.IndexWhere("user_id IS NOT NULL")),
		index.Fields("account_id", "email_key", "created_at").StorageKey("customevent_email").
			Annotations(entsql.IndexWhere("email_key IS NOT NULL")),
	}
}
