package deliverability

import (
	"context"

	"github.com/postrider/postrider/runtime/mail/dmarcreport"
	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	dmarcReportSQL = `
INSERT INTO dmarc_reports (domain_id, digest, organization, receiver, report_id, policy, begins_at, ends_at, messages)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (domain_id, digest) DO NOTHING`

	dmarcCountsSQL = `
INSERT INTO dmarc_counts (domain_id, day, receiver, source, disposition, dkim, spf, signed, permitted, messages)
SELECT $1, $2, $3, * FROM unnest($4::text[], $5::text[], $6::bool[], $7::bool[], $8::bool[], $9::bool[], $10::bigint[])
ON CONFLICT (domain_id, day, receiver, source, disposition, dkim, spf, signed, permitted)
DO UPDATE SET messages = dmarc_counts.messages + EXCLUDED.messages`
)

// dmarcReport is a report of messages.
type dmarcReport struct{ dmarcreport.Report }

func (r dmarcReport) head() reportHead {
	return reportHead{organization: r.Organization, id: r.ID, domains: []string{r.Domain}, begin: r.Begin, end: r.End,
		rows: len(r.Rows)}
}

func (dmarcReport) fullSQL() string { return fullSQL("dmarc_reports", "dmarc_counts") }

func (r dmarcReport) insertReport(ctx context.Context, tx db.Execer, to destination, digest []byte) (int, error) {
	return db.Exec(ctx, tx, dmarcReportSQL, to.domainID, digest, r.Organization, to.receiver, r.ID, r.Policy, r.Begin,
		r.End, r.Messages())
}

func (r dmarcReport) insertCounts(ctx context.Context, tx db.Execer, to destination) error {
	n := len(r.Rows)
	sources, dispositions, messages := make([]string, n), make([]string, n), make([]int64, n)
	dkim, spf, signed, permitted := make([]bool, n), make([]bool, n), make([]bool, n), make([]bool, n)
	for i, row := range r.Rows {
		sources[i], dispositions[i], messages[i] = row.Source.String(), row.Disposition, row.Messages
		dkim[i], spf[i], signed[i], permitted[i] = row.DKIM, row.SPF, row.Signed, row.Permitted
	}
	_, err := tx.ExecContext(ctx, dmarcCountsSQL, to.domainID, dayOf(r.head()), to.receiver, sources, dispositions, dkim,
		spf, signed, permitted, messages)
	return err
}
