package templates

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/template"
	"github.com/postrider/postrider/ent/templateedit"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// The limits of a draft's history.
const (
	MaxEdits     = 50
	maxEditBytes = 8 << 20
	// editSession is how long changes by one author replace their last edit, so that autosave does not fill the
	// history.
	editSession = 10 * time.Minute
)

const firstEditSQL = `
INSERT INTO template_edits (template_id, account_id, number, author, created_at, updated_at,
	subject, "from", reply_to, html, text, translations, variables, unsubscribe_enabled, category)
SELECT t.id, t.account_id, 1, '', t.updated_at AS created_at, t.updated_at,
	t.subject, t."from", t.reply_to, t.html, t.text, t.translations, t.variables, t.unsubscribe_enabled, t.category
  FROM templates t WHERE t.id = $1 AND NOT EXISTS (SELECT FROM template_edits e WHERE e.template_id = t.id)`

// recordFirstEdit begins the history of a draft with its present state, so that the state can be restored.
func recordFirstEdit(ctx context.Context, tx *ent.Tx, t *ent.Template) error {
	_, err := db.Exec(ctx, tx, firstEditSQL, t.ID)
	return fault.Wrap("record the first edit", err)
}

const (
	dropLastEditSQL = `
DELETE FROM template_edits WHERE template_id = $1 AND number = (SELECT max(number) FROM template_edits WHERE template_id = $1)
   AND number > 1 AND author = $2 AND created_at > $3
RETURNING number, created_at`

	addEditSQL = `
INSERT INTO template_edits (template_id, account_id, number, author, created_at, updated_at,
	subject, "from", reply_to, html, text, translations, variables, unsubscribe_enabled, category)
SELECT t.id, t.account_id, coalesce($2::int, (SELECT max(e.number) FROM template_edits e WHERE e.template_id = t.id) + 1), $3, coalesce($4::timestamptz, t.updated_at), t.updated_at,
	t.subject, t."from", t.reply_to, t.html, t.text, t.translations, t.variables, t.unsubscribe_enabled, t.category
  FROM templates t WHERE t.id = $1`

	pruneEditsSQL = `
DELETE FROM template_edits WHERE template_id = $1 AND number IN (
	SELECT number FROM (
		SELECT number, row_number() OVER newest AS position,
			sum(coalesce(octet_length(html), 0) + coalesce(octet_length(text), 0) + coalesce(pg_column_size(translations), 0)) OVER newest AS bytes
		  FROM template_edits WHERE template_id = $1 WINDOW newest AS (ORDER BY number DESC)) e
	 WHERE position > $2 OR bytes > $3 AND position > 1)`
)

// recordEdit records the draft in its history. It replaces the last edit if that is recent and has the same author,
// unless the edit must be separate.
func recordEdit(ctx context.Context, tx *ent.Tx, t *ent.Template, author string, separate bool) error {
	type edit struct {
		number  *int
		started *time.Time
	}
	var last edit
	if !separate {
		dropped, err := db.All(ctx, tx, func(e *edit) []any { return []any{&e.number, &e.started} }, dropLastEditSQL,
			t.ID, author, t.UpdatedAt.Add(-editSession))
		if err != nil {
			return fmt.Errorf("replace the last edit: %w", err)
		}
		if len(dropped) > 0 {
			last = dropped[0]
		}
	}
	if _, err := db.Exec(ctx, tx, addEditSQL, t.ID, last.number, author, last.started); err != nil {
		return fmt.Errorf("record edit: %w", err)
	}
	_, err := db.Exec(ctx, tx, pruneEditsSQL, t.ID, MaxEdits, maxEditBytes)
	return fault.Wrap("prune the history", err)
}

// Edits returns one page of the history of a draft, newest first, without html and text. The newest edit is the
// draft itself.
func (s *Service) Edits(ctx context.Context, accountID, idOrAlias string,
	r page.Request) (page.Page[*ent.TemplateEdit], error) {
	return listNumbered(ctx, s, accountID, idOrAlias, "edits", r,
		func(accountID, templateID string, at page.Position) ([]*ent.TemplateEdit, error) {
			return s.db.Ent.TemplateEdit.Query().
				Where(templateedit.AccountID(accountID), templateedit.TemplateID(templateID),
					at.NewestFirst(templateedit.FieldNumber)).
				Order(at.Order(templateedit.FieldNumber)).Limit(at.Rows()).
				Select(withoutBodies(templateedit.Columns)...).All(ctx)
		}, func(e *ent.TemplateEdit) int { return e.Number })
}

// Edit returns one edit with its html and text.
func (s *Service) Edit(ctx context.Context, accountID, idOrAlias string, number int) (*ent.TemplateEdit, error) {
	accountID = id.HomeAccount(accountID)
	t, err := s.find(ctx, s.db.Ent.Template, accountID, idOrAlias)
	if err != nil {
		return nil, err
	}
	return getEdit(ctx, s.db.Ent.TemplateEdit, t, number)
}

func getEdit(ctx context.Context, c *ent.TemplateEditClient, t *ent.Template, number int) (*ent.TemplateEdit, error) {
	found, err := c.Query().Where(templateedit.AccountID(t.AccountID), templateedit.TemplateID(t.ID),
		templateedit.Number(number)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("edit", strconv.Itoa(number))
	case err != nil:
		return nil, fmt.Errorf("get edit: %w", err)
	}
	return found, nil
}

// RestoreEdit makes an earlier edit the draft. The state before stays in the history. The author is the ID of a user
// or an API key, or empty.
func (s *Service) RestoreEdit(ctx context.Context, accountID, idOrAlias string, number int, author string,
	keep StoreTemplateResponse) (now Template, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		t, err := s.lock(ctx, tx, accountID, idOrAlias)
		if err != nil {
			return err
		}
		e, err := getEdit(ctx, tx.TemplateEdit, t, number)
		if err != nil {
			return err
		}
		at, err := db.Now(ctx, tx)
		if err != nil {
			return err
		}
		update := tx.Template.UpdateOneID(t.ID).Where(template.AccountID(accountID)).SetUpdatedAt(at)
		setFields(update.Mutation(), editedContent(e))
		row, err := update.Save(ctx)
		if err != nil {
			return err
		}
		if err := recordEdit(ctx, tx, row, author, true); err != nil {
			return err
		}
		if now, err = s.loadTemplate(ctx, tx, row); err != nil || keep == nil {
			return err
		}
		return keep(ctx, tx, now)
	})
	return now, fault.Wrap("restore edit", err)
}

func editedContent(e *ent.TemplateEdit) content {
	return content{subject: e.Subject, from: e.From, replyTo: e.ReplyTo, html: orEmpty(e.HTML), text: orEmpty(e.Text),
		translated: e.Translations, variables: e.Variables, unsubscribe: e.UnsubscribeEnabled, category: orEmpty(e.Category)}
}
