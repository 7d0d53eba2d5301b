package records

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/sending/bodies"
	"github.com/postrider/postrider/runtime/storage/db"
)

// snippetsSQL reads only the beginning of one body per email, so the server does not fetch the rest. It reads
// HTML if the text is blank. An email whose body was moved has its snippet in the row.
const snippetsSQL = `
SELECT id, head, CASE WHEN head !~ '[^[:space:]]' THEN coalesce(substring(html FROM 1 FOR $4), '') ELSE '' END,
	CASE WHEN html IS NULL AND text IS NULL THEN substring(mime FROM 1 FOR $5) END, coalesce(body_snippet, '')
FROM (SELECT id, html, text, mime, body_snippet, coalesce(substring(text FROM 1 FOR $3), '') AS head FROM emails
	WHERE account_id = $1 AND id = ANY($2) AND body_purged_at IS NULL) e`

// Snippets returns the first words of several emails by email id, as plain text on one line, with one
// statement. Emails whose bodies are deleted or contain no words have no entry.
func (s *Service) Snippets(ctx context.Context, accountID string, emailIDs ...string) (map[string]string, error) {
	out := make(map[string]string, len(emailIDs))
	take := func(row db.Row) error {
		var emailID, text, html, snippet string
		var mime []byte
		if err := row.Scan(&emailID, &text, &html, &mime, &snippet); err != nil {
			return err
		}
		if snippet == "" {
			var err error
			if snippet, err = bodies.Snippet(html, text, mime); err != nil {
				return err
			}
		}
		if snippet != "" {
			out[emailID] = snippet
		}
		return nil
	}
	err := s.db.Read(ctx, func(on *ent.Client) error {
		return db.Each(ctx, on, take, snippetsSQL, accountID, db.Array(emailIDs), bodies.SnippetText,
			bodies.SnippetHTML, bodies.SnippetMIME)
	})
	if err != nil {
		return nil, fmt.Errorf("read snippets: %w", err)
	}
	return out, nil
}
