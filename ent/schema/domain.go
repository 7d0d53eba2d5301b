// Owner: domains. A sending domain of an account, with its signing key and the latest DNS results.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"github.com/postrider/postrider/ent/schema/shape"
)

// Domain is a sending domain. A row without an account is the platform's own sandbox domain.
type Domain struct{ ent.Schema }

// Annotations of the Domain.
func (Domain) Annotations() []schema.Annotation {
	return []schema.Annotation{Builders{Create: true, Update: true}}
}

// Fields of the Domain.
func (Domain) Fields() []ent.Field {
	return []ent.Field{
		publicID(),
		reference("account_id").optional(),
		field.String("name").NotEmpty().Immutable().Comment("A-labels, lower case, no trailing dot"),
		field.Enum("status").Values("pending", "verified", "temporary_failure", "failed").Default("pending"),
		field.Bool("seeded").Default(false).
			Comment("verified by the installation itself (sandbox, development); never re-checked"),
		field.String("ownership_token").NotEmpty().Immutable(),
		field.JSON("records", []shape.RecordState{}).Optional(),
		field.Bool("open_tracking").Default(false),
		field.Bool("click_tracking").Default(false),
		field.Enum("tls_mode").Values("opportunistic", "enforced").Default("opportunistic"),
		field.Bool("inbound_enabled").Default(false),
		field.String("bimi_logo_url").Default("").Comment("SVG of the proposed BIMI record; empty: no record is proposed"),
		field.String("bimi_certificate_url").Default("").Comment("PEM file with the mark certificate of the logo; may be empty"),
		field.Enum("mta_sts").Values("off", "none", "testing", "enforce").Default("off").
			Comment("mode of the MTA-STS policy that the installation serves for the domain (RFC 8461)"),
		field.Bool("ed25519").Default(false).Comment("also signs with an Ed25519 key in addition to RSA (RFC 8463)"),
		field.Time("last_checked_at").Optional().Nillable(),
		field.Time("verified_at").Optional().Nillable(),
		field.Time("failing_since").Optional().Nillable().
			Comment("time of the first check in the current series of failures"),
		field.Time("due_at").Optional().Nillable().
			Comment("next check; while a worker holds the row, the end of its lease"),
		field.Int64("fence").Default(0),
		field.Int("check_attempts").Default(0).Comment("checks since the status last changed, for the backoff"),
		createdAt(),
		updatedAt(),
	}
}

// Edges of the Domain.
func (Domain) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("keys", DKIMKey.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("dmarc_reports", DMARCReport.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("dmarc_counts", DMARCCount.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("dmarc_refusals", DMARCRefusal.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("tls_reports", TLSReport.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("tls_counts", TLSCount.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("degraded_providers", DegradedProvider.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes of the Domain.
func (Domain) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("account_id", "name").Unique(),
		// A verified name has one owner. Unverified rows of other accounts do not block it.
		index.Fields("name").Unique().StorageKey("domain_one_verified_owner").
			Annotations(entsql.IndexWhere("status IN ('verified', 'temporary_failure')")),
		index.Fields("account_id", "id"),
		index.Fields("due_at").StorageKey("domain_due").Annotations(entsql.IndexWhere("due_at IS NOT NULL")),
	}
}
