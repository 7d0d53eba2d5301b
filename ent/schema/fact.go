// Owner: bus. A fact, named in the past tense, written in the transaction of the change it describes.
package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Fact is one event of an account.
type Fact struct{ ent.Schema }

// Fields of the Fact.
func (Fact) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").required(),
		field.String("type").NotEmpty().Immutable().Comment("such as email.delivered"),
		reference("subject_id").required(),
		field.JSON("data", json.RawMessage{}).Immutable(),
		createdAt(),
	}
}

// Indexes of the Fact.
func (Fact) Indexes() []ent.Index {
	return []ent.Index{index.Fields("subject_id", "id"), index.Fields("account_id", "id")}
}
