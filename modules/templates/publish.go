package templates

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
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
	Size     int      // bytes of the sources in the new version; 0 if there is none
}

// StorePublicationResponse is like StoreTemplateResponse, for a publication.
type StorePublicationResponse func(ctx context.Context, tx idempotency.Execer, p Publication) error

// Publish makes the draft the version that sends use, with the published versions of its layout and partials. If
// neither has changed, it creates no new version. The author is the ID of a user or an API key, or empty.
func (s *Service) Publish(ctx context.Context, accountID, idOrAlias, author string,
	keep StorePublicationResponse) (Publication, error) {
	for {
		t, err := s.find(ctx, s.db.Ent.Template, accountID, idOrAlias)
		if err != nil {
			return Publication{}, err
		}
		made, err := s.makeVersion(ctx, t, draftOf(t))
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
		made, err := s.remakeVersion(ctx, t, v)
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
	pins     []shape.Component
	locks    []shape.Component // pins that must be the published versions
	warnings []string
	isDraft  bool // the source becomes the draft
	author   string
}

// makeVersion does the expensive work of a publication outside the transaction.
func (s *Service) makeVersion(ctx context.Context, t *ent.Template, source content) (newVersion, error) {
	if err := s.publishing.Acquire(ctx); err != nil {
		return newVersion{}, err
	}
	defer s.publishing.Release()
	expanded, err := s.newComponentReader(t.AccountID).expand(ctx, t.Kind, orEmpty(t.Alias), source)
	if err != nil {
		return newVersion{}, err
	}
	return newVersionOf(expanded)
}

// remakeVersion makes a version from an earlier one. With components, it keeps their versions, which may be older than
// the published ones.
func (s *Service) remakeVersion(ctx context.Context, t *ent.Template, v *ent.TemplateVersion) (newVersion, error) {
	if len(v.Components) == 0 || t.Kind != language.KindTemplate {
		return s.makeVersion(ctx, t, sourceOf(v))
	}
	wrong := fault.Fields{}
	contentOf(v).compile(wrong)
	return newVersion{source: sourceOf(v), content: contentOf(v), pins: v.Components}, wrong.Err()
}

func newVersionOf(e expandedContent) (newVersion, error) {
	wrong := fault.Fields{}
	compiled := e.compile(wrong)
	compiled.checkComplete(wrong)
	if err := wrong.Err(); err != nil {
		return newVersion{}, err
	}
	v := newVersion{source: e.source, content: e.content, pins: e.pins, locks: e.pins}
	if e.kind != language.KindTemplate {
		v.content = e.source // its users expand it
		return v, nil
	}
	var warning string
	if v.content.html, warning = inlineCSS(e.content.html); warning != "" {
		v.warnings = append(v.warnings, warning)
	}
	for i := range v.content.translated {
		t := &v.content.translated[i]
		if t.HTML, warning = inlineCSS(t.HTML); warning != "" {
			v.warnings = append(v.warnings, t.Locale+": "+warning)
		}
	}
	for _, parts := range append([]compiledParts{compiled.compiledParts}, compiled.translated...) {
		for _, found := range parts.findTrusted() {
			output := parts.html.TrustedOutputs()[0]
			v.warnings = append(v.warnings, fmt.Sprintf("%s, %s: {{ %s }} is inserted without escaping. %s",
				parts.html.Name, parts.html.OutputPlace(output), output.Expression, found.Fix))
		}
	}
	return v, nil
}

// size returns the bytes of the sources.
func (v newVersion) size() int {
	return v.source.size() + v.content.size()
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
		if err := lockComponents(ctx, tx, read, made.locks); err != nil {
			return err
		}
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
		if made.isDraft || standing.HasUnpublishedChanges || !slices.Equal(made.pins, t.Components) {
			if out.Template, err = s.storeVersion(ctx, tx, t, made); err != nil {
				return err
			}
			out.Size = made.size()
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
	if len(made.pins) > 0 {
		update.SetComponents(made.pins)
	} else {
		update.ClearComponents()
	}
	row, err := update.Save(ctx)
	if err == nil && made.isDraft {
		err = recordEdit(ctx, tx, row, made.author, true)
	}
	if err != nil {
		return Template{}, err
	}
	out, err := s.loadTemplate(ctx, tx, row)
	return out, fault.Wrap("read the published template", err)
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
	if len(made.pins) > 0 {
		create.SetComponents(made.pins)
	}
	if len(c.variables) != len(made.source.variables) {
		create.SetSourceVariables(orNone(made.source.variables))
	}
	return create.Exec(ctx)
}
