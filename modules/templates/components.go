package templates

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/ent/template"
	"github.com/postrider/postrider/ent/templateversion"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// expandedContent is a content without tags of components.
type expandedContent struct {
	source  content // as its author wrote it
	content content // flat, with the variables of the layout
	kind    string
	flats   map[string]language.Flat // by field
	layouts []component              // each once
	pins    []shape.Component        // each once, sorted
}

// component is a layout or a partial that an expansion uses.
type component struct {
	pin     shape.Component
	alias   string
	content content
	reason  string // why it cannot be used
}

// maxComponentSize is how many bytes of components are read for one template, except for the last one.
const maxComponentSize = 8 << 20

// componentReader reads the components of one expansion, each once. A component keeps the state of its first use.
type componentReader struct {
	*Service

	accountID string
	known     map[string]component // by alias
	size      int                  // bytes of their sources
	expander  language.Expander
	err       error // of the database
}

func (s *Service) newComponentReader(accountID string) *componentReader {
	return &componentReader{Service: s, accountID: accountID, known: map[string]component{}}
}

// read returns the published version of a component.
func (r *componentReader) read(ctx context.Context, kind, alias string) component {
	if known, ok := r.known[alias]; ok || r.err != nil {
		return known
	}
	if r.size > maxComponentSize {
		return component{reason: "the layouts and partials are larger than 8 MB in all languages"}
	}
	c, err := r.load(ctx, kind, alias)
	if err != nil {
		r.err = err
		return component{reason: "cannot be read"}
	}
	r.size += c.content.size()
	r.known[alias] = c
	return c
}

func (r *componentReader) load(ctx context.Context, kind, alias string) (component, error) {
	row, err := r.db.Ent.Template.Query().Where(template.AccountID(r.accountID), template.Alias(alias)).
		Select(template.FieldID, template.FieldKind, template.FieldVersion).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return component{reason: fmt.Sprintf("there is no %s with the alias %s", kind, alias)}, nil
	case err != nil:
		return component{}, err
	case row.Version == nil:
		return component{pin: shape.Component{Kind: row.Kind},
			reason: fmt.Sprintf("the %s %s is not published", row.Kind, alias)}, nil
	}
	v, err := r.db.Ent.TemplateVersion.Query().Where(templateversion.AccountID(r.accountID),
		templateversion.TemplateID(row.ID), templateversion.Number(*row.Version)).
		Select(templateversion.FieldNumber, templateversion.FieldSourceHTML, templateversion.FieldSourceText,
			templateversion.FieldSourceTranslations, templateversion.FieldVariables).Only(ctx)
	if ent.IsNotFound(err) { // deleted since
		return component{reason: fmt.Sprintf("there is no %s with the alias %s", kind, alias)}, nil
	}
	if err != nil {
		return component{}, err
	}
	return component{pin: shape.Component{Kind: row.Kind, TemplateID: row.ID, Version: v.Number}, alias: alias,
		content: sourceOf(v)}, nil
}

// source returns the source of a component for a field and a language.
func (r *componentReader) source(ctx context.Context, kind, alias, field, locale string) (c language.Component,
	reason string) {
	found := r.read(ctx, kind, alias)
	switch {
	case found.pin.Kind != "" && found.pin.Kind != kind:
		return c, fmt.Sprintf("%s is a %s, not a %s", alias, found.pin.Kind, kind)
	case found.reason != "":
		return c, found.reason
	}
	html, text := found.content.bodies(locale)
	name, source := "html", html
	if strings.HasSuffix(field, "text") {
		name, source = "text", text
	}
	if source == "" {
		return c, fmt.Sprintf("the %s %s has no %s", kind, alias, name)
	}
	return language.Component{Kind: kind, Name: alias, Source: source, Variables: found.content.variables}, ""
}

// expand replaces the layouts and partials of a content. Its errors are Invalid and name fields of the content.
func (r *componentReader) expand(ctx context.Context, kind, alias string, c content) (expandedContent, error) {
	out := expandedContent{source: c, content: c, kind: kind, flats: map[string]language.Flat{}}
	out.content.translated = slices.Clone(c.translated)
	wrong := fault.Fields{}
	used := map[string]component{}
	size := 0
	eachBody(&out.content, func(field, locale string, e *language.Engine, source *string) {
		if r.err != nil || size > maxTranslatedSize || ctx.Err() != nil {
			return
		}
		root := language.Component{Kind: kind, Name: alias, Source: *source, Variables: c.variables}
		flat, err := r.expander.Expand(e, field, root, func(kind, name string) (language.Component, string) {
			found, reason := r.source(ctx, kind, name, field, locale)
			if reason == "" {
				used[name] = r.known[name]
			}
			return found, reason
		})
		if err != nil {
			wrong.Add(field, "%s", err)
			return
		}
		out.flats[field], *source = flat, flat.Source
		if locale != "" {
			size += len(flat.Source)
		}
	})
	if size > maxTranslatedSize {
		wrong.Add("translations", "are larger than 4 MB with their layouts and partials")
	}
	if err := cmp.Or(r.err, ctx.Err()); err != nil {
		return expandedContent{}, fmt.Errorf("read components: %w", err)
	}
	if len(used) > language.MaxComponents {
		wrong.Add("html", "uses more than %d layouts and partials", language.MaxComponents)
	}
	for _, u := range used {
		out.pins = append(out.pins, u.pin)
		if u.pin.Kind == language.KindLayout {
			out.layouts = append(out.layouts, u)
		}
	}
	slices.SortFunc(out.pins, func(a, b shape.Component) int { return strings.Compare(a.TemplateID, b.TemplateID) })
	slices.SortFunc(out.layouts, func(a, b component) int { return strings.Compare(a.alias, b.alias) })
	return out, wrong.Err()
}

// compile compiles the flat sources, and adds the variables of the layout that they use.
func (e *expandedContent) compile(wrong fault.Fields) compiledContent {
	compiled := e.content.compileFlat(e.flats, wrong)
	for _, l := range e.layouts {
		for _, v := range l.content.variables {
			e.addVariable(l.alias, v, compiled, wrong)
		}
	}
	if len(e.content.variables) > len(e.source.variables) {
		named := fault.Fields{}
		language.ValidateVariables(e.content.variables, named)
		if err := named.Err(); err != nil {
			wrong.Add("variables", "cannot be combined with those of the layout %s: %s", e.layouts[0].alias, err)
		}
	}
	compiled.content = e.content
	return compiled
}

// addVariable adds a variable of a layout.
func (e *expandedContent) addVariable(layout string, v shape.Variable, compiled compiledContent, wrong fault.Fields) {
	at := slices.IndexFunc(e.content.variables, func(own shape.Variable) bool { return own.Key == v.Key })
	switch {
	case at >= 0 && e.content.variables[at].Type != v.Type:
		wrong.Add("variables", "%s is of type %s here, and of type %s in the layout %s", v.Key, e.content.variables[at].Type,
			v.Type, layout)
	case at < 0 && slices.ContainsFunc(compiled.allParts(),
		func(p *language.CompiledSource) bool { return p.UsesVariable(v) }):
		e.content.variables = append(slices.Clip(e.content.variables), v)
	}
}

const lockComponentsSQL = `
SELECT id, coalesce(version, 0) FROM templates WHERE account_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE`

// lockComponents locks a template and its components in the order of their ids, so that concurrent publications cannot
// deadlock. It returns errEdited if a component has another published version than its pin.
func lockComponents(ctx context.Context, tx *ent.Tx, t *ent.Template, pins []shape.Component) error {
	if len(pins) == 0 {
		return nil
	}
	ids := []string{t.ID}
	for _, p := range pins {
		ids = append(ids, p.TemplateID)
	}
	type locked struct {
		id      string
		version int
	}
	found, err := db.All(ctx, tx, func(l *locked) []any { return []any{&l.id, &l.version} }, lockComponentsSQL,
		t.AccountID, db.Array(ids))
	if err != nil {
		return fmt.Errorf("lock components: %w", err)
	}
	for _, p := range pins {
		if !slices.Contains(found, locked{p.TemplateID, p.Version}) {
			return errEdited
		}
	}
	return nil
}

// UsedComponent is a layout or a partial in the published version of a template.
type UsedComponent struct {
	shape.Component

	Alias         *string // null if it has none now
	Name          string  // empty: it was deleted
	LatestVersion *int    // null if it was deleted
}

// HasNewerComponents reports whether a layout or a partial has a newer version than the one in the published version.
func (t Template) HasNewerComponents() bool {
	return slices.ContainsFunc(t.Used, func(c UsedComponent) bool {
		return c.LatestVersion != nil && *c.LatestVersion > c.Version
	})
}

// hasNewerComponents is the filter of a list by Template.HasNewerComponents.
func hasNewerComponents(s *sql.Selector) {
	s.Where(sql.ExprP("EXISTS (SELECT FROM jsonb_array_elements(" + s.C(template.FieldComponents) + ") c" +
		" JOIN templates l ON l.id = c->>'template_id'" +
		" WHERE l.account_id = " + s.C(template.FieldAccountID) + " AND l.version > (c->>'version')::int)"))
}

// loadComponents returns the components of templates by the id of the template.
func (s *Service) loadComponents(ctx context.Context, from db.Execer, accountID string,
	rows []*ent.Template) (map[string][]UsedComponent, error) {
	var ids []string
	for _, row := range rows {
		for _, c := range row.Components {
			ids = append(ids, c.TemplateID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	type state struct {
		id, name string
		alias    *string
		version  *int
	}
	found, err := db.All(ctx, from, func(s *state) []any { return []any{&s.id, &s.name, &s.alias, &s.version} },
		`SELECT id, name, alias, version FROM templates WHERE account_id = $1 AND id = ANY($2)`, accountID, db.Array(ids))
	if err != nil {
		return nil, fmt.Errorf("read components: %w", err)
	}
	out := map[string][]UsedComponent{}
	for _, row := range rows {
		for _, c := range row.Components {
			used := UsedComponent{Component: c}
			if i := slices.IndexFunc(found, func(s state) bool { return s.id == c.TemplateID }); i >= 0 {
				used.Alias, used.Name, used.LatestVersion = found[i].alias, found[i].name, found[i].version
			}
			out[row.ID] = append(out[row.ID], used)
		}
	}
	return out, nil
}

// expandWithin expands the draft of a template that uses an unsaved layout or partial.
func (r *componentReader) expandWithin(ctx context.Context, t *ent.Template, draft content,
	idOrAlias string) (expandedContent, error) {
	alias := orEmpty(t.Alias)
	if t.Kind == language.KindTemplate || alias == "" {
		return expandedContent{}, fault.InvalidField("within", "requires a layout or a partial that has an alias")
	}
	outer, err := r.find(ctx, r.db.Ent.Template, r.accountID, idOrAlias)
	if fault.KindOf(err) == fault.NotFound {
		return expandedContent{}, fault.InvalidField("within", "is not a template of this account")
	}
	if err != nil {
		return expandedContent{}, err
	}
	r.known[alias] = component{pin: shape.Component{Kind: t.Kind, TemplateID: t.ID}, alias: alias, content: draft}
	e, err := r.expand(ctx, outer.Kind, orEmpty(outer.Alias), draftOf(outer))
	if err != nil {
		return expandedContent{}, err
	}
	if !slices.ContainsFunc(e.pins, func(p shape.Component) bool { return p.TemplateID == t.ID }) {
		return expandedContent{}, fault.InvalidField("within", "does not use the %s %s", t.Kind, alias)
	}
	return e, nil
}
