package records

import (
	"context"
	"io"
	"sync"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/sending/bodies"
	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Bodies of finished emails may be in the object store (package bodies). Everything else reads them through
// this package, which knows their location from the row.

// hasTextsElsewhere reports whether html and text of an email are in the object store.
func hasTextsElsewhere(e *ent.Email) bool {
	return e.BodyKey != nil && e.BodySize != nil && !bodies.IsRelayed(*e.BodyKey)
}

// LoadTexts reads html and text of an email returned by Get if they are in the object store. Error:
// Unavailable when the store fails.
func (s *Service) LoadTexts(ctx context.Context, e *ent.Email) (err error) {
	if !hasTextsElsewhere(e) {
		return nil
	}
	e.HTML, e.Text, err = s.store.Texts(ctx, *e.BodyKey, *e.BodySize)
	return err
}

// loadsAtOnce bounds the concurrent reads of one request from the object store.
const loadsAtOnce = 8

func (s *Service) loadAll(ctx context.Context, emails []*ent.Email) error {
	errs := make([]error, len(emails))
	turns := limit.NewSemaphore(loadsAtOnce, limit.Unbounded)
	var all sync.WaitGroup
	for i, e := range emails {
		all.Go(func() { errs[i] = turns.Do(ctx, func() error { return s.LoadTexts(ctx, e) }) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err // the others failed for the same reason
		}
	}
	return nil
}

const textsSQL = `SELECT html, text, body_key, body_size FROM emails WHERE id = $1 AND account_id = $2`

// Texts reads html and text of an email from the row or the object store. Errors: sql.ErrNoRows, and
// Unavailable when the store fails.
func (s *Service) Texts(ctx context.Context, accountID, emailID string) (html, text *string, err error) {
	e, err := db.One(ctx, s.db.Hot,
		func(e *ent.Email) []any { return []any{&e.HTML, &e.Text, &e.BodyKey, &e.BodySize} }, textsSQL,
		emailID, accountID)
	if err != nil {
		return nil, nil, err
	}
	err = s.LoadTexts(ctx, &e)
	return e.HTML, e.Text, err
}

// File reads an attachment from the object store. The caller closes it. Error: Unavailable, from Read as well,
// when the store fails.
func (s *Service) File(ctx context.Context, key string) (io.ReadCloser, error) {
	return s.store.Open(ctx, key)
}

// forgetObjectsSQL schedules the deletion of the objects of emails, whose rows are locked. A move that never
// began has written nothing; one that did may be writing until its lease ends.
var forgetObjectsSQL = db.Compile(`
WITH stored AS (
	INSERT INTO body_moves (account_id, email_id, object_key, remove, due_at)
	SELECT account_id, id, body_key, true, now() + interval '1 minute' FROM emails WHERE account_id = @account AND id = ANY(@ids::text[]) AND body_key IS NOT NULL
	UNION ALL SELECT account_id, email_id, object_key, true, now() + interval '1 minute' FROM attachments WHERE account_id = @account AND email_id = ANY(@ids::text[]) AND object_key IS NOT NULL
), untouched AS (
	DELETE FROM body_moves WHERE email_id = ANY(@ids::text[]) AND account_id = @account AND NOT remove AND attempts = 0
)
UPDATE body_moves SET remove = true, due_at = greatest(due_at, now()) + interval '1 minute', fence = fence + 1
WHERE email_id = ANY(@ids::text[]) AND account_id = @account AND NOT remove AND attempts > 0`)

// forgetObjects schedules the deletion of the objects of emails, which happens once the transaction has
// emptied or deleted their rows.
func (s *Service) forgetObjects(ctx context.Context, tx db.Execer, accountID string, ids ...string) error {
	_, err := tx.ExecContext(ctx, forgetObjectsSQL.Text,
		forgetObjectsSQL.Args(db.Arg("account", accountID), db.Arg("ids", db.Array(ids)))...)
	return err
}
