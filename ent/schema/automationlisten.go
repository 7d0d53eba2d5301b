// Owner: automations. A version that reacts to events with a name.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AutomationListen is created when a version is activated.
type AutomationListen struct{ ent.Schema }

// Annotations of the AutomationListen.
func (AutomationListen) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{}}
}

// Fields of the AutomationListen.
func (AutomationListen) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		field.String("event").NotEmpty(),
		reference("automation_id").required(),
		field.Int("version").Positive(),
		field.Bool("starts").Comment("the event starts runs; only for the active version"),
		field.Bool("waits").Comment("the event can end waits of runs"),
		field.Bool("cancels").Comment("the event cancels runs"),
		field.Bool("converts").Default(false).Comment("the event is the goal of runs"),
	}
}

// Indexes of the AutomationListen.
func (AutomationListen) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "event", "automation_id", "version").Unique(),
		index.Fields("automation_id"),
		index.Fields("automation_id", "account_id").StorageKey("automationlisten_own").
			Annotations(entsql.IndexWhere("event LIKE '$%'"))}
}
