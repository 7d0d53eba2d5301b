package schema

import (
	"time"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
)

// Public ids are a prefix and a time-ordered suffix (runtime/base/id). They compare
// by bytes, so that `ORDER BY id` is the order of creation under any locale.
func publicID() ent.Field {
	return field.String("id").Immutable().NotEmpty().Annotations(entsql.Annotation{Collation: "C"})
}

// reference is a column that holds another row's public id.
func reference(name string) *referenceBuilder {
	return &referenceBuilder{name: name}
}

type referenceBuilder struct{ name string }

func (r *referenceBuilder) required() ent.Field {
	return field.String(r.name).NotEmpty().Annotations(entsql.Annotation{Collation: "C"})
}

func (r *referenceBuilder) optional() ent.Field {
	return field.String(r.name).Optional().Nillable().Annotations(entsql.Annotation{Collation: "C"})
}

func createdAt() ent.Field {
	return field.Time("created_at").Immutable().Default(time.Now).Annotations(entsql.Default("CURRENT_TIMESTAMP"))
}

func updatedAt() ent.Field {
	return field.Time("updated_at").Default(time.Now).UpdateDefault(time.Now).
		Annotations(entsql.Default("CURRENT_TIMESTAMP"))
}
