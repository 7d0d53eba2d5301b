// Owner: automations. The next step of a live run, with its due time.
package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AutomationWork shares the ID of its run and is deleted when the run ends. Every row has a due time, so no run
// can get stuck.
type AutomationWork struct{ ent.Schema }

// Annotations of the AutomationWork.
func (AutomationWork) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{}}
}

// Fields of the AutomationWork.
func (AutomationWork) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		reference("automation_id").required(),
		field.Int("version").Positive(),
		field.String("user_id").Optional().Nillable(),
		field.String("email_key").Optional().Nillable(),
		field.Int("step_index"),
		field.Enum("state").Values("ready", "waiting", "timed_out"),
		field.JSON("waiting", json.RawMessage{}).Optional().Comment("what the step waits for"),
		field.JSON("input", json.RawMessage{}).Optional().Comment("event that ended the wait"),
		field.JSON("blocked", json.RawMessage{}).Optional().Comment("why the step will be retried"),
		field.Time("refused_at").Optional().Nillable().
			Comment("when sending was refused because of the account; a later change to the account makes the step due"),
		field.Time("ready_at").Comment("when the step became due; needed because a lease overwrites due_at"),
		field.Time("due_at"),
		field.Int("lane").Comment("lane of the account; a claim takes a few rows from each lane"),
		field.Bool("parked").Default(false).Comment("became due while the automation was held"),
		field.Int64("fence").Default(0),
		field.Int("claims").Default(0).Comment("claims since the last settlement"),
	}
}

// Indexes of the AutomationWork.
func (AutomationWork) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("lane", "due_at").StorageKey("automationwork_due").Annotations(entsql.IndexWhere("NOT parked")),
		index.Fields("account_id", "user_id").StorageKey("automationwork_user").
			Annotations(entsql.IndexWhere("user_id IS NOT NULL")),
		index.Fields("account_id", "email_key").StorageKey("automationwork_email").
			Annotations(entsql.IndexWhere("email_key IS NOT NULL")),
		index.Fields("automation_id", "id"),
		index.Fields("account_id", "refused_at").StorageKey("automationwork_refused").
			Annotations(entsql.IndexWhere("refused_at IS NOT NULL")),
		index.Fields("automation_id", "id").StorageKey("automationwork_parked").
			Annotations(entsql.IndexWhere("parked")),
	}
}
