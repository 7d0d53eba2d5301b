// Owner: node. A running process of the installation.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// Node is one process, from its start to its end. A process that stops normally deletes its row; the row of one
// that died stays for an hour.
type Node struct{ ent.Schema }

// Fields of the Node. Every claimed row contains the node, so the ID is small.
func (Node) Fields() []ent.Field {
	return []ent.Field{
		field.Int32("id"),
		field.String("name").NotEmpty().Immutable().
			Comment("POSTRIDER_NODE; a process keeps its name when it is restarted"),
		field.String("version").Immutable().Comment("version of the program"),
		field.String("schema").Optional().Immutable().
			Comment("newest migration that the program has; null if the program is older than this column"),
		field.JSON("roles", []string{}).Comment("what it does: accepts, delivers, webhooks"),
		field.Time("started_at").Immutable(),
		field.Time("seen_at").Comment("time of its latest write, by the database clock"),
		field.Time("claims_from").
			Comment("it claims nothing before this time, because the database was unavailable and others may " +
				"have results to store"),
		field.JSON("addresses", []string{}).Optional().
			Comment("addresses that it can send from, such as 198.51.100.7, or a network if it has all " +
				"addresses in it"),
		field.String("egress").Optional().
			Comment("POSTRIDER_EGRESS: processes with the same name share one public address"),
		field.Int32("cell").Optional().
			Comment("POSTRIDER_CELL; null if the program is older than this column"),
		field.Int64("clock_ahead_ms").Optional().Nillable().
			Comment("how far its clock is ahead of the database clock, in milliseconds; null if negligible"),
		field.Int64("lock").Optional().Nillable().
			Comment("key of the advisory lock that its connection holds; null if it holds none"),
		field.String("accounts_seen").Optional().Nillable().
			Comment("pg_snapshot: what the process remembers of accounts is at least as recent"),
	}
}
