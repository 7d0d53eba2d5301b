package bodies

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	fileSQL  = `SELECT data FROM attachments WHERE email_id = $1 AND account_id = $2 AND position = $3 AND object_key IS NULL`
	textsSQL = `SELECT html, text FROM emails WHERE id = $1 AND account_id = $2 AND body_key IS NULL`
	mimeSQL  = `SELECT substring(mime FROM $3::int FOR $4::int) FROM emails WHERE id = $1 AND account_id = $2 AND mime IS NOT NULL`
)

func (s *Service) packTexts(ctx context.Context, m move, b body, to io.Writer) (snippet string, err error) {
	if b.texts > smallBody {
		release, err := s.budget.AcquireWork(ctx, owner, 2*b.texts, moveLease)
		if err != nil {
			return "", err
		}
		defer release()
	}
	t, err := db.One(ctx, s.db.SQL, func(t *texts) []any { return []any{&t.HTML, &t.Text} }, textsSQL, m.emailID,
		m.accountID)
	if err != nil {
		return "", err
	}
	if t.size() != b.texts {
		return "", errors.New("texts have changed")
	}
	if err := t.pack(to); err != nil {
		return "", err
	}
	return Snippet(orEmpty(t.HTML), orEmpty(t.Text), nil)
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (s *Service) packRelayed(ctx context.Context, m move, b body, to io.Writer) (string, error) {
	var begin []byte
	err := packObject(to, func(w io.Writer) error {
		for at := int64(0); at < b.mime; {
			before := at
			// lib/pq returns binary results only for prepared statements
			err := db.Each(ctx, s.db.Prepared, func(row db.Row) error {
				var part sql.RawBytes
				if err := row.Scan(&part); err != nil {
					return err
				}
				begin = append(begin, part[:min(len(part), SnippetMIME-len(begin))]...)
				at += int64(len(part))
				_, err := w.Write(part)
				return err
			}, mimeSQL, m.emailID, m.accountID, at+1, partMIME)
			if err != nil {
				return err
			}
			if at == before {
				return fmt.Errorf("message ends after %d of %d bytes", at, b.mime)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	snippet, err := Snippet("", "", begin)
	if err != nil {
		return "", nil //nolint:nilerr // lists show no snippet if a message cannot be parsed
	}
	return snippet, nil
}

func (s *Service) packFile(ctx context.Context, m move, b body, to io.Writer) error {
	if b.texts > smallBody {
		release, err := s.budget.AcquireWork(ctx, owner, 2*b.texts, moveLease)
		if err != nil {
			return err
		}
		defer release()
	}
	n := 0
	err := packObject(to, func(w io.Writer) error {
		return db.Each(ctx, s.db.Prepared, func(row db.Row) error {
			var data sql.RawBytes
			if err := row.Scan(&data); err != nil {
				return err
			}
			n = len(data)
			_, err := w.Write(data)
			return err
		}, fileSQL, m.emailID, m.accountID, *m.file)
	})
	if err == nil && int64(n) != b.texts {
		err = errors.New("file has changed")
	}
	return err
}
