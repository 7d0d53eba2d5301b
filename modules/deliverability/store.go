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
	"github.com/postrider/postrider/runtime/mail/reportfile"
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

	refusalSQL = `
INSERT INTO dmarc_refusals (domain_id, day, reason, messages)
VALUES ($1, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD'), $2, 1)
ON CONFLICT (domain_id, day, reason) DO UPDATE SET messages = dmarc_refusals.messages + 1`
)

// fullSQL returns the statement that reports whether a domain or a receiver exceeds its limits in the tables of one
// kind of reports. It runs after the report was inserted, and before its rows are.
func fullSQL(reports, counts string) string {
	return `
SELECT r.all > $4 OR r.own > $5 OR c.all + $3 > $6 OR c.own + $3 > $7
  FROM (SELECT count(*) AS all, count(*) FILTER (WHERE receiver = $2) AS own FROM ` + reports + `
         WHERE domain_id = $1 AND created_at > now() - interval '1 day') r,
       (SELECT count(*) AS all, count(*) FILTER (WHERE receiver = $2) AS own FROM ` + counts + ` WHERE domain_id = $1) c`
}

// report is a report of one kind.
type report interface {
	head() reportHead
	// insertReport inserts the report, and returns 0 if there is one with the digest.
	insertReport(ctx context.Context, tx db.Execer, to destination, digest []byte) (inserted int, err error)
	// insertCounts adds the rows of the report to those of its day.
	insertCounts(ctx context.Context, tx db.Execer, to destination) error
	// fullSQL returns fullSQL for the tables of the report.
	fullSQL() string
}

// reportHead is what reports of all kinds have.
type reportHead struct {
	organization, id string
	domains          []string // that the report is about
	begin, end       time.Time
	rows             int
}

// destination is the domain and the receiver that a report is stored for.
type destination struct{ domainID, receiver string }

// store stores a report, and reports whether it was new.
func (s *Service) store(ctx context.Context, domainID, receiver string, r report) (stored bool, err error) {
	h, to := r.head(), destination{domainID, receiver}
	digest := sha256.Sum256([]byte(receiver + "\x00" + strings.ToLower(h.organization) + "\x00" + h.id))
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		// Serializes the reports of a domain, so that its limits hold and upserts cannot deadlock.
		if _, err := tx.ExecContext(ctx, lockSQL, domainID); err != nil {
			return err
		}
		n, err := r.insertReport(ctx, tx, to, digest[:])
		if stored = n == 1; err != nil || !stored {
			return err
		}
		full, err := db.One(ctx, tx, db.Value[bool], r.fullSQL(), domainID, receiver, h.rows, maxReportsPerDay,
			maxReceiverPerDay, maxCounts, maxReceiverCounts)
		switch {
		case err != nil:
			return err
		case full:
			return &reportfile.RefusalError{Reason: reasonLimit}
		}
		return r.insertCounts(ctx, tx, to)
	})
	if err != nil {
		return false, fmt.Errorf("store a report: %w", err)
	}
	return stored, nil
}

// dayOf returns the UTC day of the middle of a report's period. A period need not be a UTC day.
func dayOf(h reportHead) string {
	return h.begin.Add(h.end.Sub(h.begin) / 2).UTC().Format(time.DateOnly)
}

func (s *Service) countRefusal(ctx context.Context, domainID string, reason reportfile.Reason) error {
	if _, err := s.db.SQL.ExecContext(ctx, refusalSQL, domainID, string(reason)); err != nil {
		return fmt.Errorf("count a refused report: %w", err)
	}
	return nil
}

const (
	sweepBatch = 1000

	forgetSQL = `DELETE FROM degraded_providers WHERE created_at < now() - $1 * interval '1 day'`
)

// sweep deletes rows after KeptDays.
func (s *Service) sweep(ctx context.Context) (deleted int64, err error) {
	for table, old := range map[string]string{
		"dmarc_counts":      `day < to_char(now() - $1 * interval '1 day', 'YYYY-MM-DD')`,
		"dmarc_refusals":    `day < to_char(now() - $1 * interval '1 day', 'YYYY-MM-DD')`,
		"dmarc_reports":     `created_at < now() - $1 * interval '1 day'`,
		"tls_counts":        `day < to_char(now() - $1 * interval '1 day', 'YYYY-MM-DD')`,
		"tls_reports":       `created_at < now() - $1 * interval '1 day'`,
		"blocklist_lookups": `checked_at < now() - $1 * interval '1 day'`,
		"mail_sources":      `checked_at < now() - $1 * interval '1 day'`,
	} {
		statement := `DELETE FROM ` + table + ` WHERE ctid IN (SELECT ctid FROM ` + table + ` WHERE ` + old +
			` LIMIT $2 FOR UPDATE SKIP LOCKED)`
		for n := sweepBatch; n == sweepBatch; deleted += int64(n) {
			if n, err = db.Exec(ctx, s.db.SQL, statement, KeptDays, sweepBatch); err != nil {
				return deleted, fmt.Errorf("sweep reports: %w", err)
			}
		}
	}
	n, err := db.Exec(ctx, s.db.SQL, forgetSQL, degradedDays)
	return deleted + int64(n), err
}
