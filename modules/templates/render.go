package templates

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/template"
	"github.com/postrider/postrider/ent/templateversion"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/lint"
)

// Ref identifies a template by either its id or its alias, and the recipient's locale and time zone, which are
// optional.
type Ref struct {
	ID       string
	Alias    string
	Locale   string // BCP 47
	TimeZone string // IANA
	// At selects the version that was published at this time. Zero, or a time before the first version: the
	// published version.
	At time.Time
}

// Rendered is a rendered version of a template. Subject, From, HTML and Text are empty if the template leaves
// them to the send.
type Rendered struct {
	TemplateID  string
	Version     int    // 0: a draft
	Locale      string // of the translation; empty: the template has none for the recipient
	Subject     string
	From        string // display form
	ReplyTo     []string
	HTML        string
	Text        string
	Unsubscribe bool
	Category    string
	Findings    []lint.Finding // of the source: html that is inserted without escaping
}

// Fields of a send that the errors of Render name.
const (
	fieldTemplate  = "template"
	fieldID        = "template.id"
	fieldAlias     = "template.alias"
	fieldLocale    = "template.locale"
	fieldTimeZone  = "template.time_zone"
	fieldVariables = "template.variables."
)

// Render renders the published version, or that of an earlier time. Its errors have kind Invalid and name fields of a
// send: template, template.id, template.alias, template.locale, template.time_zone, template.variables.<key>. It leaves
// {{unsubscribe_url}} unchanged for the send to replace.
func (s *Service) Render(ctx context.Context, accountID string, ref Ref, variables map[string]any) (Rendered, error) {
	accountID = id.HomeAccount(accountID)
	published, err := s.resolveVersion(ctx, accountID, ref)
	if err != nil {
		return Rendered{}, err
	}
	ready, err := s.loadCompiled(ctx, accountID, published)
	if err != nil {
		return Rendered{}, fmt.Errorf("render: %w", err)
	}
	out, err := ready.render(ctx, variables, fieldNames{whole: fieldTemplate, variable: fieldVariables,
		locale: fieldLocale, timeZone: fieldTimeZone}, ref.Locale, ref.TimeZone)
	out.TemplateID, out.Version = published.id, published.version
	return out, err
}

// PreviewInput is the input of Preview.
type PreviewInput struct {
	Version   int             // 0: the draft
	Within    string          // ID or alias of a template that uses the layout or partial; empty: none
	Draft     *TemplateChange // unsaved changes to the draft, without Alias and Name; nil if there are none
	Variables map[string]any
	Examples  bool   // whether variables that are not given take their example
	Locale    string // BCP 47; empty: American English
	TimeZone  string // IANA; empty: times keep their zone
}

// Preview renders the draft, with unsaved changes or without, or any version for its author. Its errors name
// variables.<key>, locale, time_zone, subject, html and text, and draft.<field> for fields of the changes.
func (s *Service) Preview(ctx context.Context, accountID, idOrAlias string, in PreviewInput) (Rendered, error) {
	accountID = id.HomeAccount(accountID)
	t, err := s.find(ctx, s.db.Ent.Template, accountID, idOrAlias)
	if err != nil {
		return Rendered{}, err
	}
	say := draftOf(t)
	if in.Draft != nil {
		if say, err = in.applyDraft(say); err != nil {
			return Rendered{}, err
		}
	}
	if in.Version != 0 {
		v, err := s.getVersion(ctx, s.db.Ent.TemplateVersion, accountID, t.ID, in.Version)
		if err != nil {
			return Rendered{}, err
		}
		say = contentOf(v)
	}
	expanded, err := s.expandPreview(ctx, t, say, in.Within)
	if err != nil {
		return Rendered{}, err
	}
	wrong := fault.Fields{}
	ready := expanded.compile(wrong)
	if err := wrong.Err(); err != nil {
		return Rendered{}, err
	}
	given := in.Variables
	if in.Examples {
		given = language.AddExamples(expanded.content.variables, given)
	}
	out, err := ready.render(ctx, given, fieldNames{variable: "variables.", locale: "locale",
		timeZone: "time_zone"}, in.Locale, in.TimeZone)
	out.TemplateID, out.Version = t.ID, in.Version
	return out, err
}

// expandPreview expands a draft, or the template that it is shown within.
func (s *Service) expandPreview(ctx context.Context, t *ent.Template, say content,
	within string) (expandedContent, error) {
	r := s.newComponentReader(t.AccountID)
	if within != "" {
		return r.expandWithin(ctx, t, say, within)
	}
	return r.expand(ctx, t.Kind, orEmpty(t.Alias), say)
}

// applyDraft returns a draft with the unsaved changes.
func (in PreviewInput) applyDraft(draft content) (content, error) {
	if in.Version != 0 {
		return content{}, fault.InvalidField("draft", "cannot be combined with a version")
	}
	apply, wrong := in.Draft.parse()
	named := fault.Fields{}
	for field, reason := range wrong {
		named.Add("draft."+field, "%s", reason)
	}
	return apply(draft), named.Err()
}

// fieldNames contains the field names for errors: a preview names its parts, a send names the template.
type fieldNames struct {
	whole    string // empty: the name of the part
	variable string // prefix of a variable's key
	locale   string
	timeZone string
}

func (n fieldNames) partField(p string) string {
	if n.whole != "" {
		return n.whole
	}
	return p
}

func (c compiledContent) render(ctx context.Context, given map[string]any, call fieldNames,
	locale, timeZone string) (Rendered, error) {
	wrong := fault.Fields{}
	recipient := language.NewLocale(locale, call.locale, timeZone, call.timeZone, wrong)
	values := language.FillVariables(c.content.variables, given, call.variable, wrong)
	if err := wrong.Err(); err != nil {
		return Rendered{}, err
	}
	parts := c.translate(locale)
	out := Rendered{Locale: parts.locale, From: c.content.from, ReplyTo: c.content.replyTo, Unsubscribe: c.content.unsubscribe,
		Category: c.content.category, Findings: parts.findTrusted()}
	b := language.NewBudget(ctx, recipient)
	for _, p := range parts.parts() {
		text, err := p.Render(b, values)
		switch {
		case err == nil:
		case language.IsOver(err):
			return Rendered{}, err
		default:
			return Rendered{}, fault.InvalidField(call.partField(p.Name), "%s cannot be rendered: %s", p.Name, err)
		}
		switch p {
		case parts.subject:
			out.Subject = address.CleanFieldValue(text)
		case parts.html:
			out.HTML = text
		case parts.text:
			out.Text = text
		}
	}
	if out.Subject == "" && parts.subject != nil {
		subject, err := c.renderFallbackSubject(b, parts.subject, given, call)
		if err != nil {
			return Rendered{}, err
		}
		out.Subject = subject
	}
	return out, nil
}

// renderFallbackSubject renders the subject with fallbacks in place of blank values.
func (c compiledContent) renderFallbackSubject(b *language.Budget, part *language.CompiledSource,
	given map[string]any, call fieldNames) (string, error) {
	filled := maps.Clone(given)
	for _, v := range c.content.variables {
		value, _ := language.LookUp(given, v.Key)
		if text, isText := value.(string); isText && v.Fallback != nil && address.CleanFieldValue(text) == "" {
			filled[v.Key] = v.Fallback
		}
	}
	subject, err := part.Render(b, language.FillVariables(c.content.variables, filled, call.variable,
		fault.Fields{}))
	switch {
	case err == nil:
		return address.CleanFieldValue(subject), nil
	case language.IsOver(err):
		return "", err
	default:
		return "", fault.InvalidField(call.partField(part.Name), "%s cannot be rendered: %s", part.Name, err)
	}
}

// find reads a template by its id or alias.
func (s *Service) find(ctx context.Context, c *ent.TemplateClient, accountID, idOrAlias string) (*ent.Template, error) {
	query := c.Query().Where(template.AccountID(accountID))
	switch {
	case id.Is(id.Template, idOrAlias):
		query.Where(template.ID(idOrAlias))
	case badAlias(idOrAlias) == "":
		query.Where(template.Alias(idOrAlias))
	default: // a reference with NUL cannot be queried in PostgreSQL
		return nil, notFound(idOrAlias)
	}
	found, err := query.Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, notFound(idOrAlias)
	case err != nil:
		return nil, fmt.Errorf("get template: %w", err)
	}
	return found, nil
}

func notFound(idOrAlias string) *fault.Error { return fault.NoSuch("template", quoteRef(idOrAlias)) }

// quoteRef returns the caller's input in a form that is safe to repeat in an error.
func quoteRef(s string) string {
	if id.Is(id.Template, s) || badAlias(s) == "" {
		return s
	}
	return "not an id or an alias"
}

func (s *Service) getVersion(ctx context.Context, c *ent.TemplateVersionClient, accountID, templateID string,
	number int) (*ent.TemplateVersion, error) {
	v, err := c.Query().Where(templateversion.AccountID(accountID), templateversion.TemplateID(templateID),
		templateversion.Number(number)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.InvalidField("version", "the template has no version %d", number)
	case err != nil:
		return nil, fmt.Errorf("get version: %w", err)
	}
	return v, nil
}
