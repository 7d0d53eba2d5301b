package records

import (
	"bytes"
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/plaintext"
)

// SnippetLength is how many characters of an email stand in a list.
const SnippetLength = 140

// What is read of a body for them. HTML begins with styles, and what came over SMTP with its header.
const (
	snippetText = 1000     // characters
	snippetHTML = 32 << 10 // likewise
	snippetMIME = 64 << 10 // octets
)

// snippetsSQL reads the beginnings of bodies alone, and of each email one: the server does not fetch the
// rest of them. HTML is read where the text is blank.
const snippetsSQL = `
SELECT id, head, CASE WHEN head !~ '[^[:space:]]' THEN coalesce(substring(html FROM 1 FOR $4), '') ELSE '' END,
	CASE WHEN html IS NULL AND text IS NULL THEN substring(mime FROM 1 FOR $5) END
FROM (SELECT id, html, text, mime, coalesce(substring(text FROM 1 FOR $3), '') AS head FROM emails
	WHERE account_id = $1 AND id = ANY($2) AND body_purged_at IS NULL) e`

// Snippets gives the first words of several emails as plain text on one line, by email, by one statement.
// Emails whose bodies are deleted, or show no word, have none.
func (s *Service) Snippets(ctx context.Context, accountID string, emailIDs ...string) (map[string]string, error) {
	out := make(map[string]string, len(emailIDs))
	take := func(row db.Row) error {
		var emailID, text, html string
		var mime []byte
		if err := row.Scan(&emailID, &text, &html, &mime); err != nil {
			return err
		}
		if mime != nil {
			m, err := message.Read(bytes.NewReader(mime)) // an early end is the end
			if err != nil {
				return err
			}
			text, html = m.Text, m.HTML
		}
		if snippet := plaintext.Snippet(text, html, SnippetLength); snippet != "" {
			out[emailID] = snippet
		}
		return nil
	}
	err := s.db.Read(ctx, func(on *ent.Client) error {
		return db.Each(ctx, on, take, snippetsSQL, accountID, db.Array(emailIDs), snippetText, snippetHTML, snippetMIME)
	})
	if err != nil {
		return nil, fmt.Errorf("read snippets: %w", err)
	}
	return out, nil
}
