// Owner: automations. One person's run through one version of an automation.
package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AutomationRun is a run, live or ended. AutomationWork has the next step of a live run.
type AutomationRun struct{ ent.Schema }

// Annotations of the AutomationRun.
func (AutomationRun) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{}}
}

// Fields of the AutomationRun.
func (AutomationRun) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		reference("automation_id").required(),
		field.Int("version").NonNegative().Immutable().Comment("0: a test run, which follows its own definition"),
		field.JSON("definition", json.RawMessage{}).Optional().Immutable().Comment("definition of a test run"),
		reference("event_id").required(),
		field.JSON("event", json.RawMessage{}).
			Comment("copy of the event that started it, because the event may be deleted before the run"),
		field.String("user_id").Optional().Nillable(),
		field.String("email_key").Optional().Nillable(),
		field.Enum("status").Values("running", "waiting", "completed", "failed", "cancelled"),
		field.Int("step_index").Default(0),
		field.String("error").Default(""),
		field.Int("depth").Default(0),
		field.Time("started_at").Annotations(entsql.Default("CURRENT_TIMESTAMP")),
		field.Time("ended_at").Optional().Nillable(),
		field.Time("retried_at").Optional().Nillable().
			Comment("when it was last resumed after a failure; null if never. It uses the template versions of that time"),
		field.Time("goal_until").Optional().Nillable().Immutable().
			Comment("before this time, the event of the goal converts the run; null: its version has no goal"),
		field.Time("converted_at").Optional().Nillable(),
	}
}

// Indexes of the AutomationRun.
func (AutomationRun) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
		index.Fields("automation_id", "id"),
		index.Fields("account_id", "user_id", "id").StorageKey("automationrun_user").
			Annotations(entsql.IndexWhere("user_id IS NOT NULL")),
		index.Fields("account_id", "email_key", "id").StorageKey("automationrun_email").
			Annotations(entsql.IndexWhere("email_key IS NOT NULL")),
		index.Fields("automation_id").StorageKey("automationrun_trial").Annotations(entsql.IndexWhere("version = 0")),
		index.Fields("automation_id", "status", "id").StorageKey("automationrun_uncommon").
			Annotations(entsql.IndexWhere("status = 'failed' OR status = 'cancelled'")),
		index.Fields("automation_id", "user_id", "converted_at", "goal_until").StorageKey("automationrun_goal").
			Annotations(entsql.IndexWhere("goal_until IS NOT NULL")),
		index.Fields("automation_id", "email_key", "goal_until").StorageKey("automationrun_goal_email").
			Annotations(entsql.IndexWhere("goal_until IS NOT NULL AND converted_at IS NULL AND email_key IS NOT NULL")),
	}
}
