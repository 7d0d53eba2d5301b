package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/auditentry"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Module provides *Service, its sweep and the erasure of addresses.
var Module = fx.Module("audit", fx.Provide(New),
	module.ProvideSweep(func(s *Service) module.Sweep {
		return module.Sweep{What: "entries of the audit log", Run: s.sweepEntries}
	}),
	module.ProvidePersonalData(func(s *Service) module.PersonalData {
		return module.PersonalData{What: "changes in the audit log", Erase: s.Erase}
	}),
)

// Service reads the log, and records operations of the APIs. It is safe for concurrent use.
type Service struct {
	db      *db.DB
	cursors *page.Codec
}

// New returns a new Service.
func New(d *db.DB, cursors *page.Codec) *Service { return &Service{d, cursors} }

var recordSQL = db.Compile(`
INSERT INTO audit_entries (id, account_id, actor_kind, actor_id, actor_name, action, target, ip, user_agent, request_id, changes)
SELECT @id, nullif(@account::text, ''), @kind::text, @actor::text,
	CASE WHEN @kind = 'key' THEN coalesce((SELECT name FROM api_keys WHERE id = @actor), '') ELSE @name::text END,
	@action, @target, @ip, @agent, @request, nullif(@changes, '')::jsonb`)

// Record records a completed operation and what it changed. The caller can only log its error.
func (s *Service) Record(ctx context.Context, c accounts.Caller, operation, target string,
	changes map[string]any) error {
	if c.Operator != nil && c.AccountID != "" { // to both logs, as Write does
		of := map[string]any{"account": c.AccountID}
		maps.Copy(of, changes)
		if err := s.record(ctx, "", ActorOf(c), operation, target, of); err != nil {
			return err
		}
	}
	return s.record(ctx, c.AccountID, ActorOf(c), operation, target, changes)
}

func (s *Service) record(ctx context.Context, accountID string, actor Actor, operation, target string,
	changes map[string]any) error {
	o := OriginOf(ctx)
	var encoded []byte
	if len(changes) > 0 {
		var err error
		if encoded, err = json.Marshal(changes); err != nil {
			return fmt.Errorf("audit log: %w", err)
		}
	}
	_, err := s.db.SQL.ExecContext(ctx, recordSQL.Text, recordSQL.Args(db.Arg("id", id.New(id.AuditEntry)),
		db.Arg("account", accountID), db.Arg("kind", actor.Kind), db.Arg("actor", actor.ID), db.Arg("name", actor.Name),
		db.Arg("action", operation), db.Arg("target", target), db.Arg("ip", o.IP()), db.Arg("agent", o.UserAgent()),
		db.Arg("request", o.RequestID), db.Arg("changes", string(encoded)))...)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	return nil
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
