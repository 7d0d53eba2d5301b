// Owner: accounts. An action of a user or key on an account or the installation.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AuditEntry is written in the transaction of the action that it records, and never changed.
type AuditEntry struct{ ent.Schema }

// Annotations of the AuditEntry.
func (AuditEntry) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true}}
}

// Fields of the AuditEntry.
func (AuditEntry) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").optional(),
		field.Enum("actor_kind").Values("user", "key", "operator", "system"),
		field.String("actor_id").Default(""),
		field.String("actor_name").Default("").Comment("name at the time of the action"),
		field.String("action").NotEmpty(),
		field.String("target").Default("").Comment("id of the changed resource"),
		field.JSON("changes", map[string]any{}).Optional().Comment("never contains a secret"),
		field.String("ip").Default(""),
		field.String("user_agent").Default(""),
		field.String("request_id").Default(""),
		createdAt(),
	}
}

// Indexes of the AuditEntry.
func (AuditEntry) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "id"),
		index.Fields("account_id", "actor_id", "id").StorageKey("auditentry_actor"),
		index.Fields("account_id", "target", "id").StorageKey("auditentry_target"),
	}
}
