package templates

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/template"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/modules/templates/mailhtml"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Publication is the result of publishing.
type Publication struct {
	Template Template
	Warnings []string // for the author; nil if there are none
}

// StorePublicationResponse is like StoreTemplateResponse, for a publication.
type StorePublicationResponse func(ctx context.Context, tx idempotency.Execer, p Publication) error

// Publish makes the draft the version that sends use. If the draft equals the published version, it creates no
// new version. The author is the ID of a user or an API key, or empty.
func (s *Service) Publish(ctx context.Context, accountID, idOrAlias, author string,
	keep StorePublicationResponse) (Publication, error) {
	for {
		t, err := s.find(ctx, s.db.Ent.Template, accountID, idOrAlias)
		if err != nil {
			return Publication{}, err
		}
		made, err := s.makeVersion(ctx, draftOf(t))
		if err != nil {
			return Publication{}, err
		}
		made.author = author
		out, err := s.publish(ctx, t, made, keep)
		// the draft was edited between the read and the write, so publish the current one
		if errors.Is(err, errEdited) {
			continue
		}
		return out, err
	}
}

// Rollback publishes the content of an earlier version again, as a new version, and makes it the draft.
// Unpublished changes are lost.
func (s *Service) Rollback(ctx context.Context, accountID, idOrAlias string, number int, author string,
	keep StorePublicationResponse) (Publication, error) {
	for {
		t, err := s.find(ctx, s.db.Ent.Template, accountID, idOrAlias)
		if err != nil {
			return Publication{}, err
		}
		v, err := s.getVersion(ctx, s.db.Ent.TemplateVersion, accountID, t.ID, number)
		if err != nil {
			return Publication{}, err
		}
		made, err := s.makeVersion(ctx, sourceOf(v))
		if err != nil {
			return Publication{}, err
		}
		made.isDraft, made.author = true, author
		out, err := s.publish(ctx, t, made, keep)
		if errors.Is(err, errEdited) {
			continue
		}
		return out, err
	}
}

var errEdited = errors.New("the template was changed concurrently")

// newVersion is a version before it is stored.
type newVersion struct {
	source   content // as its author wrote it
	content  content // as it is sent
	warnings []string
	isDraft  bool // the source becomes the draft
	author   string
}

// makeVersion does the expensive work of a publication outside the transaction.
func (s *Service) makeVersion(ctx context.Context, source content) (newVersion, error) {
	if err := s.publishing.Acquire(ctx); err != nil {
		return newVersion{}, err
	}
	defer s.publishing.Release()
	return newVersionOf(source)
}

func newVersionOf(source content) (newVersion, error) {
	wrong := fault.Fields{}
	compiled := source.compile(wrong)
	compiled.checkComplete(wrong)
	if err := wrong.Err(); err != nil {
		return newVersion{}, err
	}
	v := newVersion{source: source, content: source}
	var warning string
	if v.content.html, warning = inlineCSS(source.html); warning != "" {
		v.warnings = append(v.warnings, warning)
	}
	v.content.translated = slices.Clone(source.translated)
	for i := range v.content.translated {
		t := &v.content.translated[i]
		if t.HTML, warning = inlineCSS(t.HTML); warning != "" {
			v.warnings = append(v.warnings, t.Locale+": "+warning)
		}
	}
	for _, parts := range append([]compiledParts{compiled.compiledParts}, compiled.translated...) {
		for _, found := range parts.findTrusted() {
			v.warnings = append(v.warnings, fmt.Sprintf("%s, line %d: {{ %s }} is inserted without escaping. %s",
				parts.html.Name, found.Places[0].Line, found.Places[0].Element, found.Fix))
		}
	}
	return v, nil
}

// inlineCSS returns html with its CSS inlined. If that is not possible, it returns the html as it is, and the reason.
func inlineCSS(html string) (out, warning string) {
	if html == "" {
		return "", ""
	}
	inlined, kept := mailhtml.InlineCSS(html)
	if kept != "" || inlined == html {
		return html, kept
	}
	switch _, err := language.HTML.Compile("html", inlined); {
	case len(inlined) > language.MaxSource:
		return html, "CSS was not inlined: html would be larger than 1 MB"
	case err != nil:
		return html, "CSS was not inlined: the result is not a valid template"
	}
	return inlined, ""
}

func (s *Service) publish(ctx context.Context, read *ent.Template, made newVersion,
	keep StorePublicationResponse) (out Publication, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		t, err := s.lock(ctx, tx, read.AccountID, read.ID)
		if err != nil {
			return err
		}
		if !t.UpdatedAt.Equal(read.UpdatedAt) {
			return errEdited
		}
		standing, err := s.loadTemplate(ctx, tx, t)
		if err != nil {
			return err
		}
		out = Publication{Template: standing, Warnings: made.warnings}
		if made.isDraft || standing.HasUnpublishedChanges {
			if out.Template, err = s.storeVersion(ctx, tx, t, made); err != nil {
				return err
			}
		}
		if keep == nil {
			return nil
		}
		return keep(ctx, tx, out)
	})
	if err != nil {
		return Publication{}, fmt.Errorf("publish template: %w", err)
	}
	s.invalidateLookups()
	return out, nil
}

func (s *Service) storeVersion(ctx context.Context, tx *ent.Tx, t *ent.Template, made newVersion) (Template, error) {
	at, err := db.Now(ctx, tx)
	if err != nil {
		return Template{}, err
	}
	number := t.LastVersion + 1
	if err := insertVersion(ctx, tx, t, made, number, at); err != nil {
		return Template{}, err
	}
	if made.isDraft {
		if err := recordFirstEdit(ctx, tx, t); err != nil {
			return Template{}, err
		}
	}
	update := tx.Template.UpdateOneID(t.ID).Where(template.AccountID(t.AccountID)).
		SetVersion(number).SetLastVersion(number).SetPublishedAt(at).SetUpdatedAt(at)
	if made.isDraft {
		setFields(update.Mutation(), made.source)
	}
	row, err := update.Save(ctx)
	if err == nil && made.isDraft {
		err = recordEdit(ctx, tx, row, made.author, true)
	}
	if err != nil {
		return Template{}, err
	}
	return Template{Template: row, hasHTML: row.HTML != nil, hasText: row.Text != nil}, nil
}

func insertVersion(ctx context.Context, tx *ent.Tx, t *ent.Template, made newVersion, number int, at time.Time) error {
	c := made.content
	create := tx.TemplateVersion.Create().SetTemplateID(t.ID).SetAccountID(t.AccountID).SetNumber(number).SetCreatedAt(at).
		SetAuthor(made.author).
		SetSubject(c.subject).SetFrom(c.from).SetReplyTo(orNone(c.replyTo)).SetNillableHTML(orNull(c.html)).
		SetNillableText(orNull(c.text)).
		SetVariables(orNone(c.variables)).SetUnsubscribeEnabled(c.unsubscribe).SetNillableCategory(orNull(c.category)).
		SetNillableSourceHTML(orNull(made.source.html)).SetNillableSourceText(orNull(made.source.text))
	if len(c.translated) > 0 {
		create.SetTranslations(c.translated).SetSourceTranslations(made.source.translated)
	}
	return create.Exec(ctx)
}
