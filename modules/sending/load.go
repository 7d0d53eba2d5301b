package sending

import (
	"context"
	"database/sql"
	"errors"

	"github.com/postrider/postrider/runtime/mail/mime"
)

const (
	loadBodySQL  = `SELECT coalesce(html, ''), coalesce(text, '') FROM emails WHERE id = $1 AND account_id = $2`
	loadFilesSQL = `SELECT position, name, content_type, content_id, size FROM attachments WHERE email_id = $1 AND account_id = $2 ORDER BY position`
	loadDataSQL  = `SELECT data FROM attachments WHERE email_id = $1 AND account_id = $2 AND position = $3`
)

// loadRest loads what the claim left out because of its size. Attachments are
// read when the composer comes to them, one statement each: a statement has
// seconds, and memory for one is enough. done is called after composing.
func (s *Service) loadRest(ctx context.Context, o *outgoing, msg *mime.Message) (done func(), err error) {
	if err := s.db.Hot.QueryRowContext(ctx, loadBodySQL, o.id, o.accountID).Scan(&msg.HTML, &msg.Text); err != nil {
		return nil, err
	}
	if o.attachments == 0 {
		return func() {}, nil
	}
	type file struct {
		position int
		mime.Attachment
	}
	rows, err := s.db.Hot.QueryContext(ctx, loadFilesSQL, o.id, o.accountID)
	if err != nil {
		return nil, err
	}
	files, err := scanAll(rows, func(f *file) []any {
		return []any{&f.position, &f.Name, &f.ContentType, &f.ContentID, &f.Size}
	})
	if err != nil {
		return nil, err
	}
	// A prepared statement, because only of those lib/pq takes binary results; in
	// text a file is twice its size.
	data, err := s.db.Hot.PrepareContext(ctx, loadDataSQL)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		f.Read = func(use func([]byte)) error { return readFile(ctx, data, use, o.id, o.accountID, f.position) }
		msg.Attachments = append(msg.Attachments, f.Attachment)
	}
	return func() {
		if err := data.Close(); err != nil {
			s.logger.DebugContext(ctx, "statement not closed, its connection is gone", "error", err)
		}
	}, nil
}

// readFile hands the one column of the one row to use, without a copy of it.
func readFile(ctx context.Context, statement *sql.Stmt, use func([]byte), args ...any) (err error) {
	rows, err := statement.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	return useColumn(rows, func(data []byte) error { use(data); return nil })
}

// useColumn hands the one column of the one row to use, without a copy of it, and closes
// rows.
func useColumn(rows *sql.Rows, use func([]byte) error) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	if !rows.Next() {
		return errors.Join(rows.Err(), sql.ErrNoRows)
	}
	var data sql.RawBytes
	if err := rows.Scan(&data); err != nil {
		return err
	}
	if err := use(data); err != nil {
		return err
	}
	return rows.Err()
}
