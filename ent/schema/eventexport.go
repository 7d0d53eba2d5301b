// Owner: eventexport. The position of the export of facts to a broker.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// EventExport is the cursor of one target. The process that claims the row continues from it.
type EventExport struct{ ent.Schema }

// Fields of the EventExport.
func (EventExport) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").StorageKey("name").NotEmpty().Immutable().Comment("name of the target, such as nats"),
		reference("position").required(), // id of a fact, or one made of a time: the target has every fact up to it
		field.Time("due_at").
			Comment("when the next page may be sent; while a process holds the row, the end of its lease"),
		field.Int64("fence").Default(0).Comment("the fencing number of the claim"),
		field.Int32("node").Optional().Nillable().Comment("process that has claimed the row; null if none has"),
		field.Bool("open").Default(false).
			Comment("a page was started but not finished: the target may have facts after the position"),
		field.Bool("again").Default(false).
			Comment("reset manually and not caught up yet: the target already has facts after the position " +
				"and receives them again"),
		field.Int("failures").Default(0).Comment("failed pages in a row"),
		field.String("error").Default("").Comment("error of the latest failed page"),
		field.Time("failed_at").Optional().Nillable().Comment("time of the latest failure"),
		field.Time("moved_at").Comment("when the position last changed"),
	}
}
