package compose

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"github.com/postrider/postrider/runtime/mail/mime"
	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	loadFilesSQL = `SELECT position, name, content_type, content_id, size FROM attachments WHERE email_id = $1 AND account_id = $2 ORDER BY position`
	loadDataSQL  = `SELECT data, coalesce(object_key, ''), size FROM attachments WHERE email_id = $1 AND account_id = $2 AND position = $3`
)

// loadRest loads the parts that the claim left out because of their size. Attachments are read when the
// composer reaches them, with one statement each: a statement has only seconds, and reading one attachment at a
// time bounds the memory.
func (c *Composer) loadRest(ctx context.Context, o *StoredEmail, msg *mime.Message) error {
	html, text, err := c.contents.Texts(ctx, o.accountID, o.id)
	if err != nil {
		return err
	}
	if html != nil {
		msg.HTML = *html
	}
	if text != nil {
		msg.Text, o.noText = *text, *text == ""
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

// readFile passes the contents of an attachment to use, without copying them if they are in the database. It
// uses a prepared statement, because lib/pq returns binary results only for those; as text, a file has twice
// its size.
func (c *Composer) readFile(ctx context.Context, use func([]byte), o *StoredEmail, position int) error {
	found, key, size := false, "", 0
	err := db.Each(ctx, c.db.Prepared, func(row db.Row) error {
		var data sql.RawBytes
		if err := row.Scan(&data, &key, &size); err != nil {
			return err
		}
		if found = true; key == "" {
			use(data)
		}
		return nil
	}, loadDataSQL, o.id, o.accountID, position)
	switch {
	case err != nil:
		return err
	case !found:
		return sql.ErrNoRows
	case key != "":
		return c.fetchFile(ctx, use, key, size)
	}
	return nil
}

// fetchFile is readFile for an attachment in the object store.
func (c *Composer) fetchFile(ctx context.Context, use func([]byte), key string, size int) (err error) {
	object, err := c.contents.File(ctx, key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	data := make([]byte, size)
	if _, err := io.ReadFull(object, data); err != nil {
		return fmt.Errorf("object %s: %w", key, err)
	}
	n, err := io.Copy(io.Discard, object) // reads up to the checksum at the end
	if err == nil && n > 0 {
		err = fmt.Errorf("%d bytes beyond %d", n, size)
	}
	if err != nil {
		return fmt.Errorf("object %s: %w", key, err)
	}
	use(data)
	return nil
}
