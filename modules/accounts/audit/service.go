package audit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/auditentry"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Module provides *Service and its sweep.
var Module = fx.Module("audit", fx.Provide(New),
	module.ProvideSweep(func(s *Service) module.Sweep {
		return module.Sweep{What: "entries of the audit log", Run: s.sweepEntries}
	}),
)

// Service reads the log, and records operations of the APIs. It is safe for concurrent use.
type Service struct {
	db      *db.DB
	cursors *page.Codec
}

// New returns a new Service.
func New(d *db.DB, cursors *page.Codec) *Service { return &Service{d, cursors} }

const recordSQL = `
INSERT INTO audit_entries (id, account_id, actor_kind, actor_id, actor_name, action, target, ip, user_agent, request_id)
SELECT $1, nullif($2::text, ''), $3::text, $4::text, CASE WHEN $3 = 'key' THEN coalesce((SELECT name FROM api_keys WHERE id = $4), '') ELSE $5::text END, $6, $7, $8, $9, $10`

// Record records a completed operation. The caller can only log its error.
func (s *Service) Record(ctx context.Context, c accounts.Caller, operation, target string) error {
	o, actor := OriginOf(ctx), ActorOf(c)
	_, err := s.db.SQL.ExecContext(ctx, recordSQL, id.New(id.AuditEntry), c.AccountID, actor.Kind, actor.ID, actor.Name,
		operation, target,
		o.IP(), o.UserAgent(), o.RequestID)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	return nil
}

// Filter narrows a list of entries. Zero fields match everything.
type Filter struct {
	Actor  string // entry id
	Action string // a complete action, or a prefix such as member
	Since  time.Time
	Until  time.Time // exclusive
}

// List returns one page of an account's entries, newest first. An empty account lists the entries about the
// installation. Error: Invalid.
func (s *Service) List(ctx context.Context, accountID string, f Filter,
	r page.Request) (page.Page[*ent.AuditEntry], error) {
	query, err := s.buildQuery(accountID, f)
	if err != nil {
		return page.Page[*ent.AuditEntry]{}, err
	}
	return page.ReadNewest(ctx, s.cursors, page.List{Name: "audit_log", AccountID: accountID}, r.OrDefault(), query,
		func(e *ent.AuditEntry) string { return e.ID })
}

// Count returns the number of entries that match a filter, at most most.
func (s *Service) Count(ctx context.Context, accountID string, f Filter, most int) (int, error) {
	query, err := s.buildQuery(accountID, f)
	if err != nil {
		return 0, err
	}
	found, err := query.Limit(most).IDs(ctx)
	return len(found), err
}

func (s *Service) buildQuery(accountID string, f Filter) (*ent.AuditEntryQuery, error) {
	if !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until) {
		return nil, fault.InvalidField("until", "must be after since")
	}
	of := auditentry.AccountID(accountID)
	if accountID == "" {
		of = auditentry.AccountIDIsNil()
	}
	query := s.db.Ent.AuditEntry.Query().Where(of)
	if f.Actor != "" {
		query.Where(auditentry.ActorID(f.Actor))
	}
	if f.Action != "" {
		query.Where(auditentry.Or(auditentry.Action(f.Action),
			auditentry.ActionHasPrefix(strings.TrimSuffix(f.Action, ".")+".")))
	}
	if !f.Since.IsZero() {
		query.Where(auditentry.CreatedAtGTE(f.Since))
	}
	if !f.Until.IsZero() {
		query.Where(auditentry.CreatedAtLT(f.Until))
	}
	return query, nil
}

// LastBy returns the last actor of an operation on a target since a time, or the zero Actor if there is none.
func (s *Service) LastBy(ctx context.Context, accountID, operation, target string, since time.Time) (Actor, error) {
	e, err := s.db.Ent.AuditEntry.Query().
		Where(auditentry.AccountID(accountID), auditentry.IDGTE(id.Since(id.AuditEntry, since)),
			auditentry.Action(operation), auditentry.Target(target)).
		Order(ent.Desc(auditentry.FieldID)).First(ctx)
	switch {
	case ent.IsNotFound(err):
		return Actor{}, nil
	case err != nil:
		return Actor{}, fmt.Errorf("audit log: %w", err)
	}
	return Actor{string(e.ActorKind), e.ActorID, e.ActorName}, nil
}

const keptDays = 400

const sweepSQL = `
DELETE FROM audit_entries WHERE id IN (SELECT id FROM audit_entries WHERE id COLLATE "C" < $1 ORDER BY id COLLATE "C" LIMIT $2 FOR UPDATE SKIP LOCKED)`

const sweepBatch = 1000

// sweepEntries deletes entries older than 400 days. Ids are ordered by time.
func (s *Service) sweepEntries(ctx context.Context) (deleted int64, err error) {
	now, err := db.Now(ctx, s.db.SQL)
	if err != nil {
		return 0, fmt.Errorf("sweep audit entries: %w", err)
	}
	before := id.Since(id.AuditEntry, now.AddDate(0, 0, -keptDays))
	for n := sweepBatch; n == sweepBatch; deleted += int64(n) {
		if n, err = db.Exec(ctx, s.db.SQL, sweepSQL, before, sweepBatch); err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}
