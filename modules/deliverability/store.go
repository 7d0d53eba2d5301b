package deliverability

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/runtime/mail/dmarcreport"
	"github.com/postrider/postrider/runtime/storage/db"
)

// The limits of one domain, and of one receiver that reports about it. A genuine receiver sends a report a day, or one
// an hour. The limits of a receiver keep a stranger with a domain from using up those of the domain.
const (
	maxReportsPerDay  = 1_000
	maxReceiverPerDay = 100
	maxCounts         = 300_000
	maxReceiverCounts = 100_000
)

// KeptDays is how long reports and counts are kept.
const KeptDays = 100

var errNoDomain = errors.New("no such domain")

// findSubject returns the domain of a report address, or errNoDomain.
func (s *Service) findSubject(ctx context.Context, domainID string) (subject, error) {
	d, err := s.db.Ent.Domain.Query().Where(domain.ID(domainID), domain.AccountIDNotNil()).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return subject{}, errNoDomain
	case err != nil:
		return subject{}, fmt.Errorf("find the domain of a report: %w", err)
	}
	return subject{d.ID, d.Name}, nil
}

const (
	lockSQL = `SELECT pg_advisory_xact_lock(hashtextextended('dmarc reports of ' || $1, 0))`

	reportSQL = `
INSERT INTO dmarc_reports (domain_id, digest, organization, receiver, report_id, policy, begins_at, ends_at, messages)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (domain_id, digest) DO NOTHING`

	countsSQL = `
INSERT INTO dmarc_counts (domain_id, day, receiver, source, disposition, dkim, spf, signed, permitted, messages)
SELECT $1, $2, $3, * FROM unnest($4::text[], $5::text[], $6::bool[], $7::bool[], $8::bool[], $9::bool[], $10::bigint[])
ON CONFLICT (domain_id, day, receiver, source, disposition, dkim, spf, signed, permitted)
DO UPDATE SET messages = dmarc_counts.messages + EXCLUDED.messages`

	refusalSQL = `
INSERT INTO dmarc_refusals (domain_id, day, reason, messages)
VALUES ($1, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD'), $2, 1)
ON CONFLICT (domain_id, day, reason) DO UPDATE SET messages = dmarc_refusals.messages + 1`

	// fullSQL runs after the report was inserted, and before its rows are.
	fullSQL = `
SELECT r.all > $4 OR r.own > $5 OR c.all + $3 > $6 OR c.own + $3 > $7
  FROM (SELECT count(*) AS all, count(*) FILTER (WHERE receiver = $2) AS own FROM dmarc_reports
         WHERE domain_id = $1 AND created_at > now() - interval '1 day') r,
       (SELECT count(*) AS all, count(*) FILTER (WHERE receiver = $2) AS own FROM dmarc_counts WHERE domain_id = $1) c`
)

// store stores a report, and reports whether it was new.
func (s *Service) store(ctx context.Context, domainID, receiver string, r dmarcreport.Report) (stored bool, err error) {
	digest := sha256.Sum256([]byte(receiver + "\x00" + strings.ToLower(r.Organization) + "\x00" + r.ID))
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		// Serializes the reports of a domain, so that its limits hold and upserts cannot deadlock.
		if _, err := tx.ExecContext(ctx, lockSQL, domainID); err != nil {
			return err
		}
		n, err := db.Exec(ctx, tx, reportSQL, domainID, digest[:], r.Organization, receiver, r.ID, r.Policy, r.Begin, r.End,
			r.Messages())
		if stored = n == 1; err != nil || !stored {
			return err
		}
		full, err := db.One(ctx, tx, db.Value[bool], fullSQL, domainID, receiver, len(r.Rows), maxReportsPerDay,
			maxReceiverPerDay, maxCounts, maxReceiverCounts)
		switch {
		case err != nil:
			return err
		case full:
			return &dmarcreport.RefusalError{Reason: reasonLimit}
		}
		return insertCounts(ctx, tx, domainID, receiver, r)
	})
	if err != nil {
		return false, fmt.Errorf("store a DMARC report: %w", err)
	}
	return stored, nil
}

func insertCounts(ctx context.Context, tx db.Execer, domainID, receiver string, r dmarcreport.Report) error {
	n := len(r.Rows)
	sources, dispositions, messages := make([]string, n), make([]string, n), make([]int64, n)
	dkim, spf, signed, permitted := make([]bool, n), make([]bool, n), make([]bool, n), make([]bool, n)
	for i, row := range r.Rows {
		sources[i], dispositions[i], messages[i] = row.Source.String(), row.Disposition, row.Messages
		dkim[i], spf[i], signed[i], permitted[i] = row.DKIM, row.SPF, row.Signed, row.Permitted
	}
	_, err := tx.ExecContext(ctx, countsSQL, domainID, dayOf(r), receiver, sources, dispositions, dkim, spf, signed,
		permitted, messages)
	return err
}

// dayOf returns the UTC day of the middle of a report's period. A period need not be a UTC day.
func dayOf(r dmarcreport.Report) string {
	return r.Begin.Add(r.End.Sub(r.Begin) / 2).UTC().Format(time.DateOnly)
}

func (s *Service) countRefusal(ctx context.Context, domainID string, reason dmarcreport.Reason) error {
	if _, err := s.db.SQL.ExecContext(ctx, refusalSQL, domainID, string(reason)); err != nil {
		return fmt.Errorf("count a refused DMARC report: %w", err)
	}
	return nil
}

const sweepBatch = 1000

// sweep deletes rows after KeptDays.
func (s *Service) sweep(ctx context.Context) (deleted int64, err error) {
	for table, old := range map[string]string{
		"dmarc_counts":   `day < to_char(now() - $1 * interval '1 day', 'YYYY-MM-DD')`,
		"dmarc_refusals": `day < to_char(now() - $1 * interval '1 day', 'YYYY-MM-DD')`,
		"dmarc_reports":  `created_at < now() - $1 * interval '1 day'`,
		"mail_sources":   `checked_at < now() - $1 * interval '1 day'`,
	} {
		statement := `DELETE FROM ` + table + ` WHERE ctid IN (SELECT ctid FROM ` + table + ` WHERE ` + old +
			` LIMIT $2 FOR UPDATE SKIP LOCKED)`
		for n := sweepBatch; n == sweepBatch; deleted += int64(n) {
			if n, err = db.Exec(ctx, s.db.SQL, statement, KeptDays, sweepBatch); err != nil {
				return deleted, fmt.Errorf("sweep DMARC reports: %w", err)
			}
		}
	}
	return deleted, nil
}
