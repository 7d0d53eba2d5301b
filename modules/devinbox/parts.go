package devinbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/postrider/postrider/ent"
)

// partSize is the number of bytes of an email held in memory at a time. The first part of a larger email is in
// captured_mails, the others are in captured_parts.
const partSize = 1 << 20

// Plain SQL on the pool that transfers bytes in binary format: in text format, an email would be twice its
// size.
const (
	insertMailSQL = `INSERT INTO captured_mails (mail_from, rcpt_to, "from", subject, message_id, size, raw, account_id) VALUES ($1, $2, $3, $4, $5, $6, $7, NULLIF($8, '')) RETURNING id`
	insertPartSQL = `INSERT INTO captured_parts (mail_id, position, data) VALUES ($1, $2, $3)`
	resizeMailSQL = `UPDATE captured_mails SET size = $2 WHERE id = $1`
	selectPartSQL = `SELECT data FROM captured_parts WHERE mail_id = $1 AND position = $2`
)

// readPart fills a part. more reports whether the mail may continue.
func readPart(r io.Reader, buffer []byte) (part []byte, more bool, err error) {
	n, err := io.ReadFull(r, buffer)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return buffer[:n], false, nil
	}
	return buffer[:n], err == nil, err
}

// insert stores an email in one transaction. Its first part has already been read, the rest is in r.
func (s *Service) insert(ctx context.Context, m mail, buffer []byte, more bool, r io.Reader) error {
	to, err := json.Marshal(m.to)
	if err != nil {
		return err
	}
	return s.db.InHotTx(ctx, func(tx *sql.Tx) error {
		size := len(m.head)
		var id int64
		if err := tx.QueryRowContext(ctx, insertMailSQL, m.mailFrom, string(to), m.from, m.subject, m.messageID, size,
			m.head, m.tenant).Scan(&id); err != nil {
			return err
		}
		if !more {
			return nil
		}
		for position := 1; more; position++ {
			var part []byte
			if part, more, err = readPart(r, buffer); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, insertPartSQL, id, position, part); err != nil {
				return err
			}
			size += len(part)
		}
		_, err = tx.ExecContext(ctx, resizeMailSQL, id, size)
		return err
	})
}

// loadParts appends the other parts of an email, if any.
func (s *Service) loadParts(ctx context.Context, m *ent.CapturedMail) (err error) {
	if len(m.Raw) >= m.Size {
		return nil
	}
	statement, err := s.db.Hot.PrepareContext(ctx, selectPartSQL) // returns bytes instead of text
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, statement.Close()) }()
	whole := make([]byte, 0, m.Size)
	whole = append(whole, m.Raw...)
	for position := 1; len(whole) < m.Size; position++ {
		var part []byte
		if err := statement.QueryRowContext(ctx, m.ID, position).Scan(&part); err != nil {
			return fmt.Errorf("part %d: %w", position, err)
		}
		whole = append(whole, part...)
	}
	m.Raw = whole
	return nil
}
