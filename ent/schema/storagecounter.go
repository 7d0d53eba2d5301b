// Owner: accounts. The stored bytes of an account with a byte quota, and the progress of measuring them.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// StorageCounter is the counter of one account. Accounts without a quota have no row.
type StorageCounter struct{ ent.Schema }

// Fields of the StorageCounter.
func (StorageCounter) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		reference("account_id").required(),
		field.Int64("stored").Default(0).Comment("bytes, including those that processes have borrowed"),
		field.Int64("charged").Default(0).Comment("sum of all charges; never decreases"),
		field.String("day").Default("").Comment("UTC, such as 2026-11-21"),
		field.Int64("day_bytes").Default(0).
			Comment("bytes charged on that day, including those that processes have borrowed"),
		field.Int64("day_received").Default(0).
			Comment("the part of day_bytes that was received from unknown senders, as reported by processes"),
		field.JSON("kinds", map[string]int64{}).Optional().Comment("result of the last measurement, by kind"),
		field.Time("measured_at").Optional().Nillable(),
		field.Time("due_at").Optional().Nillable().
			Comment("next step of the measurement; while a worker holds the row, the end of its lease"),
		field.JSON("progress", map[string]any{}).Optional().Comment("measurement in progress"),
	}
}

// Indexes of the StorageCounter.
func (StorageCounter) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id").Unique(),
		index.Fields("due_at").StorageKey("storagecounter_due").Annotations(entsql.IndexWhere("due_at IS NOT NULL")),
	}
}
