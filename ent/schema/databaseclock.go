// Owner: clockstep. The observed state of the database clock.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// DatabaseClock records the latest time that the database clock has shown, so that a step
// backwards is detected, and the time of the last such step.
type DatabaseClock struct{ ent.Schema }

// Fields of the DatabaseClock. There is one clock, so there is one id.
func (DatabaseClock) Fields() []ent.Field {
	return []ent.Field{
		field.Int32("id").Range(1, 1),
		field.Time("seen_at").Comment("latest time of the database clock, to within a minute"),
		field.Time("stepped_at").Optional().Nillable().
			Comment("when the clock was last seen to step back, by the clock at that time; null: never"),
		field.Int64("stepped_by_ms").Default(0).Comment("size of the step in milliseconds"),
		field.Bool("settled").Default(true).
			Comment("whether times stored while the clock was ahead have been corrected"),
	}
}
