package deliverability

import (
	"context"

	"github.com/postrider/postrider/runtime/mail/tlsreport"
	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	tlsReportSQL = `
INSERT INTO tls_reports (domain_id, digest, organization, receiver, report_id, begins_at, ends_at)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (domain_id, digest) DO NOTHING`

	tlsCountsSQL = `
INSERT INTO tls_counts (domain_id, day, receiver, policy, result, sessions)
SELECT $1, $2, $3, * FROM unnest($4::text[], $5::text[], $6::bigint[])
ON CONFLICT (domain_id, day, receiver, policy, result) DO UPDATE SET sessions = tls_counts.sessions + EXCLUDED.sessions`
)

// tlsReport is a report of SMTP sessions.
type tlsReport struct{ tlsreport.Report }

func (r tlsReport) head() reportHead {
	return reportHead{organization: r.Organization, id: r.ID, domains: r.Domains, begin: r.Begin, end: r.End,
		rows: len(r.Rows)}
}

func (tlsReport) fullSQL() string { return fullSQL("tls_reports", "tls_counts") }

func (r tlsReport) insertReport(ctx context.Context, tx db.Execer, to destination, digest []byte) (int, error) {
	return db.Exec(ctx, tx, tlsReportSQL, to.domainID, digest, r.Organization, to.receiver, r.ID, r.Begin, r.End)
}

func (r tlsReport) insertCounts(ctx context.Context, tx db.Execer, to destination) error {
	n := len(r.Rows)
	policies, results, sessions := make([]string, n), make([]string, n), make([]int64, n)
	for i, row := range r.Rows {
		policies[i], results[i], sessions[i] = row.Policy, row.Result, row.Sessions
	}
	_, err := tx.ExecContext(ctx, tlsCountsSQL, to.domainID, dayOf(r.head()), to.receiver, policies, results, sessions)
	return err
}
