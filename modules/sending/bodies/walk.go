package bodies

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/node"
)

const (
	walkName  = "sent"
	walkPage  = 500  // emails examined per statement
	mostMoves = 2000 // number of due moves at which the walk pauses

	walkSoon = 200 * time.Millisecond
	walkBusy = time.Second
	walkIdle = 5 * time.Second
	walkLong = time.Minute // pause while a process of another version is alive
)

// walkStep walks one page.
func (s *Service) walkStep(ctx context.Context) (wait time.Duration, err error) {
	if s.outage.isOngoing() {
		return walkIdle, nil
	}
	other, err := s.otherVersion(ctx)
	if err != nil {
		return walkIdle, err
	}
	if other != "" {
		s.log.InfoContext(ctx, "moving bodies is paused while a process of another version runs", telemetry.KeyVersion,
			other)
		return walkLong, nil
	}
	if !s.begun {
		if err := s.beginWalk(ctx); err != nil {
			return walkIdle, err
		}
		s.begun = true
	}
	now, err := db.Now(ctx, s.db.SQL)
	if err != nil {
		return walkIdle, fmt.Errorf("walk over sent emails: %w", err)
	}
	looked, room, err := s.walkPage(ctx, now.Add(-s.config.After), walkPage)
	switch {
	case err != nil:
		return walkIdle, err
	case looked == walkPage:
		s.worker.Nudge()
		return walkSoon, nil
	case looked > 0, room <= 0:
		s.worker.Nudge()
		return walkBusy, nil
	default:
		return walkIdle, nil
	}
}

// otherVersion returns the version of a live process that runs another version than this one.
func (s *Service) otherVersion(ctx context.Context) (string, error) {
	all, err := s.node.Processes(ctx)
	if err != nil {
		return "", err
	}
	own := s.node.Self().Version
	for _, p := range all {
		if p.Alive && p.Version != own {
			return p.Version, nil
		}
	}
	return "", nil
}

var _ Node = (*node.Node)(nil)

const beginSQL = `INSERT INTO body_walks (name, position) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`

// beforeAll sorts before the id of any email.
const beforeAll = string(id.Email) + "_"

// migrationName is the migration, without its timestamp, that a version must know to read moved emails.
const migrationName = "sent_bodies"

// beginWalk creates the mark if necessary and makes the database reject older versions.
func (s *Service) beginWalk(ctx context.Context) error {
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := s.db.Require(ctx, tx, migrationName); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, beginSQL, walkName, beforeAll)
		return err
	})
	if err != nil {
		return fmt.Errorf("begin to move bodies: %w", err)
	}
	return nil
}

// unfinishedSQL is the delay until an unfinished email is checked again: as long as the row has waited already,
// within bounds.
func unfinishedSQL(row string) string {
	return `least(greatest(now() - ` + row + `.created_at, interval '15 minutes'), interval '1 day')`
}

// keySQL is the start of an object's key, from a row with an email. The random part protects objects from
// copies of the database.
func keySQL(row string) string {
	return `'sent/' || to_char(` + row + `.created_at AT TIME ZONE 'UTC', 'YYYY-MM') || '/' || ` + row +
		`.account_id || '/' || ` + row + `.id || '-' || left(replace(gen_random_uuid()::text, '-', ''), 12)`
}

// walkSQL creates the moves of a page and advances the mark past it in one statement. A concurrent process
// finds no mark.
var walkSQL = db.Compile(`
WITH mark AS (
	SELECT position FROM body_walks WHERE name = @name FOR UPDATE SKIP LOCKED
), room AS (
	SELECT @most::bigint - count(*) AS moves FROM (SELECT FROM body_moves WHERE NOT remove AND due_at <= now() LIMIT @most::bigint) waiting
), page AS (
	SELECT e.id, e.account_id, e.created_at, e.attachment_count, e.body_purged_at, e.mime IS NOT NULL AS relayed,
		e.body_key IS NULL AND (e.html IS NOT NULL OR e.text IS NOT NULL OR e.mime IS NOT NULL) AS has,
		CASE WHEN e.status = ANY(@finished::text[]) THEN now() ELSE greatest(e.scheduled_at, now()) + ` + unfinishedSQL("e") + ` END AS due_at
	FROM emails e WHERE e.id > (SELECT position FROM mark) AND e.id < @before ORDER BY e.id LIMIT greatest(least(@page::bigint, (SELECT moves FROM room)), 0)
), made AS (
	INSERT INTO body_moves (account_id, email_id, object_key, due_at)
	SELECT p.account_id, p.id, ` + keySQL("p") + ` || CASE WHEN p.relayed THEN @relayed ELSE @texts END, p.due_at
	FROM page p WHERE p.has AND p.body_purged_at IS NULL
), files AS (
	INSERT INTO body_moves (account_id, email_id, object_key, due_at, position)
	SELECT p.account_id, p.id, ` + keySQL("p") + ` || '-' || a.position || @file, p.due_at, a.position
	FROM page p JOIN attachments a ON a.email_id = p.id AND a.object_key IS NULL AND a.size > 0
	WHERE p.attachment_count > 0 AND NOT p.relayed AND p.body_purged_at IS NULL
), moved AS (
	UPDATE body_walks w SET position = p.last FROM (SELECT max(id) AS last FROM page) p WHERE w.name = @name AND p.last IS NOT NULL
)
SELECT (SELECT count(*) FROM page), (SELECT moves FROM room)`)

// walkPage examines up to page emails that follow the mark and were created before a time. It returns how many
// there were and how many more moves may be created.
func (s *Service) walkPage(ctx context.Context, before time.Time, page int) (looked, room int, err error) {
	type row struct{ looked, room int }
	r, err := db.One(ctx, s.db.SQL, func(r *row) []any { return []any{&r.looked, &r.room} }, walkSQL.Text, walkSQL.Args(
		db.Arg("name", walkName), db.Arg("most", mostMoves), db.Arg("finished", db.Array(lifecycle.FinishedStatuses())),
		db.Arg("before", id.Since(id.Email, before)),
		db.Arg("page", page), db.Arg("relayed", relayedSuffix), db.Arg("texts", textsSuffix),
		db.Arg("file", fileSuffix))...)
	if err != nil {
		return 0, 0, fmt.Errorf("walk over sent emails: %w", err)
	}
	return r.looked, r.room - r.looked, nil
}
