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
		field.String("id").StorageKey("name").NotEmpty().Immutable().Comment("of the target, as nats"),
		reference("position").required(), // id of a fact, or one made of a time: the target has every fact up to it
		field.Time("due_at").Comment("when the next page may be sent; the end of the lease while one is"),
		field.Int64("fence").Default(0).Comment("the fencing number of the claim"),
		field.Int32("node").Optional().Nillable().Comment("the process that has claimed the row; null while none has"),
		field.Bool("open").Default(false).
			Comment("a page was started but not finished: the target may have facts after the position"),
		field.Bool("again").Default(false).
			Comment("reset manually and not caught up yet: the target has facts after the position and receives them again"),
		field.Int("failures").Default(0).Comment("failed pages in a row"),
		field.String("error").Default("").Comment("of the latest page that failed"),
		field.Time("failed_at").Optional().Nillable().Comment("when that was"),
		field.Time("moved_at").Comment("when the position last changed"),
	}
}
