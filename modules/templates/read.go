package templates

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/predicate"
	"github.com/postrider/postrider/ent/template"
	"github.com/postrider/postrider/ent/templateversion"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Template is a template with fields derived from its row and its version.
type Template struct {
	*ent.Template

	HasUnpublishedChanges bool            // the draft differs from the published version
	Used                  []UsedComponent // layout and partials in the published version

	hasHTML, hasText bool // of the draft, which lists are read without
}

// Statuses of a template.
const (
	StatusDraft     = "draft"     // never published; sends cannot use it
	StatusPublished = "published" // sends use the published version
)

// Status is draft or published.
func (t Template) Status() string {
	if t.Version == nil {
		return StatusDraft
	}
	return StatusPublished
}

// Etag identifies the content of the draft, including its name and alias. Publishing does not change it. It is
// empty in lists, which are read without html and text.
func (t Template) Etag() string {
	d := draftOf(t.Template)
	said := []any{t.Name, orEmpty(t.Alias), d.subject, d.from, orNone(d.replyTo), d.html, d.text, orNone(d.variables),
		d.unsubscribe, d.category}
	if len(d.translated) > 0 {
		said = append(said, d.translated)
	}
	document, err := json.Marshal(said)
	if err != nil {
		return "" // cannot fail: all values came from JSON
	}
	// Numbers have the database's format, even before they are stored.
	var stored any
	if err := json.Unmarshal(document, &stored); err != nil {
		return ""
	}
	if document, err = json.Marshal(stored); err != nil {
		return ""
	}
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:])
}

// ListQuery is the input of List. Empty filters match everything.
type ListQuery struct {
	Page   page.Request
	Alias  string
	Status string // draft, published
	Kind   string // template, layout, partial

	HasNewerComponents bool   // only templates with newer versions of their layout or partials
	Name               string // part of the name, ignoring case
}

// Validate reports every invalid filter.
func (q ListQuery) Validate() fault.Fields {
	wrong := fault.Fields{}
	if q.Alias != "" && badAlias(q.Alias) != "" {
		wrong.Add("alias", "%s", badAlias(q.Alias))
	}
	if q.Status != "" && q.Status != StatusDraft && q.Status != StatusPublished {
		wrong.Add("status", "must be %s or %s", StatusDraft, StatusPublished)
	}
	if q.Kind != "" && !slices.Contains(language.Kinds(), q.Kind) {
		wrong.Add("kind", "must be one of %s", strings.Join(language.Kinds(), ", "))
	}
	if q.Name != "" {
		named := fault.Fields{}
		if validateName(q.Name, named); named["name"] != "" {
			wrong.Add("q", "%s", named["name"])
		}
	}
	return wrong
}

// IsRef reports whether a string may be the id or alias of a template.
func IsRef(word string) bool { return badAlias(word) == "" || id.Is(id.Template, word) }

// Get returns one template of the account by its id or alias.
func (s *Service) Get(ctx context.Context, accountID, idOrAlias string) (Template, error) {
	accountID = id.HomeAccount(accountID)
	found, err := s.find(ctx, s.db.Ent.Template, accountID, idOrAlias)
	if err != nil {
		return Template{}, err
	}
	return s.loadTemplate(ctx, s.db.SQL, found)
}

// List returns one page of the account's templates, newest first, without html and text. It returns Invalid for
// an invalid query.
func (s *Service) List(ctx context.Context, accountID string, q ListQuery) (page.Page[Template], error) {
	accountID = id.HomeAccount(accountID)
	if err := q.Validate().Err(); err != nil {
		return page.Page[Template]{}, err
	}
	list := page.List{Name: "templates", AccountID: accountID}
	query := s.db.Ent.Template.Query().Where(template.AccountID(accountID)).Where(q.filters()...)
	query.Select(withoutBodies(template.Columns)...)
	found, err := page.ReadNewest(ctx, s.cursors, list, q.Page, query, func(t *ent.Template) string { return t.ID })
	if err != nil {
		return page.Page[Template]{}, err
	}
	whole, err := s.loadTemplates(ctx, s.db.SQL, accountID, found.Items)
	if err != nil {
		return page.Page[Template]{}, err
	}
	return page.WithItems(found, whole), nil
}

// Count counts the templates that match the filters, up to a limit.
func (s *Service) Count(ctx context.Context, accountID string, q ListQuery, most int) (int, error) {
	accountID = id.HomeAccount(accountID)
	if err := q.Validate().Err(); err != nil {
		return 0, err
	}
	found, err := s.db.Ent.Template.Query().Where(template.AccountID(accountID)).Where(q.filters()...).
		Limit(most).IDs(ctx)
	return len(found), err
}

func (q ListQuery) filters() []predicate.Template {
	var out []predicate.Template
	if q.Alias != "" {
		out = append(out, template.Alias(q.Alias))
	}
	switch q.Status {
	case StatusDraft:
		out = append(out, template.VersionIsNil())
	case StatusPublished:
		out = append(out, template.VersionNotNil())
	}
	if q.HasNewerComponents {
		out = append(out, hasNewerComponents)
	}
	if q.Kind != "" {
		out = append(out, template.Kind(q.Kind))
	}
	if q.Name != "" {
		out = append(out, template.NameContainsFold(q.Name))
	}
	return out
}

// withoutBodies excludes the columns that are too large for a list.
func withoutBodies(columns []string) []string {
	var out []string
	for _, c := range columns {
		switch c {
		case template.FieldHTML, template.FieldText, templateversion.FieldSourceHTML, templateversion.FieldSourceText,
			template.FieldTranslations, templateversion.FieldSourceTranslations:
		default:
			out = append(out, c)
		}
	}
	return out
}

// Bodies returns the html and text that List omits, keyed by template id. Other fields are not set.
func (s *Service) Bodies(ctx context.Context, accountID string,
	templateIDs ...string) (map[string]*ent.Template, error) {
	accountID = id.HomeAccount(accountID)
	rows, err := s.db.Ent.Template.Query().Where(template.AccountID(accountID), template.IDIn(templateIDs...)).
		Select(template.FieldID, template.FieldHTML, template.FieldText).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("bodies of templates: %w", err)
	}
	out := make(map[string]*ent.Template, len(rows))
	for _, row := range rows {
		out[row.ID] = row
	}
	return out, nil
}

// Translations returns the translations that List omits, keyed by template id. Other fields are not set.
func (s *Service) Translations(ctx context.Context, accountID string,
	templateIDs ...string) (map[string]*ent.Template, error) {
	accountID = id.HomeAccount(accountID)
	rows, err := s.db.Ent.Template.Query().Where(template.AccountID(accountID), template.IDIn(templateIDs...),
		template.LocalesNotNil()).Select(template.FieldID, template.FieldTranslations).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("translations of templates: %w", err)
	}
	out := make(map[string]*ent.Template, len(rows))
	for _, row := range rows {
		out[row.ID] = row
	}
	return out, nil
}

// The published version is compared in the form that its author wrote.
const selectState = `
SELECT t.id, t.html IS NOT NULL AS has_html, t.text IS NOT NULL AS has_text, v.id IS NOT NULL
   AND (t.subject, t."from", coalesce(t.reply_to, '[]'), t.html, t.text, coalesce(t.variables, '[]'), t.unsubscribe_enabled, t.category, t.translations)
       IS NOT DISTINCT FROM
       (v.subject, v."from", coalesce(v.reply_to, '[]'), v.source_html, v.source_text, coalesce(v.source_variables, v.variables, '[]'), v.unsubscribe_enabled, v.category, v.source_translations) AS unchanged
  FROM templates t LEFT JOIN template_versions v ON v.template_id = t.id AND v.number = t.version
 WHERE t.account_id = $1 AND t.id = ANY($2)`

// templateState has what the row of a template in a list does not say about its draft.
type templateState struct {
	id                          string
	hasHTML, hasText, unchanged bool
}

func (s *Service) loadTemplates(ctx context.Context, from db.Execer, accountID string,
	rows []*ent.Template) (out []Template, err error) {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	states := map[string]templateState{}
	if len(ids) > 0 {
		found, err := db.All(ctx, from, func(t *templateState) []any {
			return []any{&t.id, &t.hasHTML, &t.hasText, &t.unchanged}
		}, selectState, accountID, db.Array(ids))
		if err != nil {
			return nil, fmt.Errorf("compare with the published version: %w", err)
		}
		for _, t := range found {
			states[t.id] = t
		}
	}
	used, err := s.loadComponents(ctx, from, accountID, rows)
	if err != nil {
		return nil, err
	}
	out = make([]Template, len(rows))
	for i, row := range rows {
		t := states[row.ID]
		out[i] = Template{Template: row, Used: used[row.ID], HasUnpublishedChanges: !t.unchanged, hasHTML: t.hasHTML, hasText: t.hasText}
	}
	return out, nil
}

func (s *Service) loadTemplate(ctx context.Context, from db.Execer, row *ent.Template) (Template, error) {
	out, err := s.loadTemplates(ctx, from, row.AccountID, []*ent.Template{row})
	if err != nil {
		return Template{}, err
	}
	return out[0], nil
}

// GetMany returns the account's templates with the given ids, without html and text, in no particular order.
func (s *Service) GetMany(ctx context.Context, accountID string, templateIDs ...string) ([]Template, error) {
	accountID = id.HomeAccount(accountID)
	rows, err := s.db.Ent.Template.Query().Where(template.AccountID(accountID), template.IDIn(templateIDs...)).
		Select(withoutBodies(template.Columns)...).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read templates: %w", err)
	}
	return s.loadTemplates(ctx, s.db.SQL, accountID, rows)
}
