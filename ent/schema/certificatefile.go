// Owner: tracking. The storage of the ACME client (account keys, certificates, locks), shared by all processes.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// CertificateFile is one value of the certificate store, sealed with the master key.
type CertificateFile struct{ ent.Schema }

// Fields of the CertificateFile.
func (CertificateFile) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id"),
		field.String("name").NotEmpty().Immutable().Comment("path assigned by certmagic"),
		field.Bytes("sealed"),
		field.Int64("size"),
		field.Time("locked_until").Optional().Nillable(),
		updatedAt(),
	}
}

// Indexes of the CertificateFile.
func (CertificateFile) Indexes() []ent.Index {
	return []ent.Index{index.Fields("name").Unique()}
}
