package compose

import (
	"context"
	"database/sql"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/mail/mime"
)

const (
	loadBodySQL  = `SELECT coalesce(html, ''), coalesce(text, '') FROM emails WHERE id = $1 AND account_id = $2`
	loadFilesSQL = `SELECT position, name, content_type, content_id, size FROM attachments WHERE email_id = $1 AND account_id = $2 ORDER BY position`
	loadDataSQL  = `SELECT data FROM attachments WHERE email_id = $1 AND account_id = $2 AND position = $3`
)

// loadRest loads what the claim left out because of its size. Attachments are
// read when the composer comes to them, one statement each: a statement has
// seconds, and memory for one is enough.
func (c *Composer) loadRest(ctx context.Context, o *Email, msg *mime.Message) error {
	if err := c.db.Hot.QueryRowContext(ctx, loadBodySQL, o.id, o.accountID).Scan(&msg.HTML, &msg.Text); err != nil {
		return err
	}
	if o.attachments == 0 {
		return nil
	}
	type file struct {
		position int
		mime.Attachment
	}
	files, err := db.All(ctx, c.db.Hot, func(f *file) []any {
		return []any{&f.position, &f.Name, &f.ContentType, &f.ContentID, &f.Size}
	}, loadFilesSQL, o.id, o.accountID)
	for _, f := range files {
		f.Read = func(use func([]byte)) error { return c.readFile(ctx, use, o, f.position) }
		msg.Attachments = append(msg.Attachments, f.Attachment)
	}
	return err
}

// readFile hands the contents of an attachment to use, without a copy of them. It goes by
// the door of prepared statements, because only of those lib/pq takes binary results; in
// text a file is twice its size.
func (c *Composer) readFile(ctx context.Context, use func([]byte), o *Email, position int) error {
	found := false
	err := db.Each(ctx, c.db.Prepared, func(row db.Row) error {
		var data sql.RawBytes
		if err := row.Scan(&data); err != nil {
			return err
		}
		found = true
		use(data)
		return nil
	}, loadDataSQL, o.id, o.accountID, position)
	if err == nil && !found {
		err = sql.ErrNoRows
	}
	return err
}
