package templates

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// StoreTemplateResponse stores the caller's response in the transaction of a change, so that both commit or neither
// does. It may be nil. Its error rolls back the transaction and is returned.
type StoreTemplateResponse func(ctx context.Context, tx idempotency.Execer, t Template) error

// NewTemplate is the input of Add.
type NewTemplate struct {
	Kind               string // template, layout or partial; empty: template
	Alias              string // empty: none
	Name               string
	Subject            string
	From               Mailbox
	ReplyTo            []Mailbox
	HTML               string
	Text               string
	Translations       []shape.Translation
	Variables          []shape.Variable
	UnsubscribeEnabled bool
	Category           string // empty: none
	Keep               StoreTemplateResponse
}

// Validate reports every invalid field.
func (in NewTemplate) Validate() fault.Fields {
	_, wrong := in.parse()
	return wrong
}

func (in NewTemplate) parse() (content, fault.Fields) {
	wrong := fault.Fields{}
	if in.Alias != "" && badAlias(in.Alias) != "" {
		wrong.Add("alias", "%s", badAlias(in.Alias))
	}
	if in.Kind != "" && !slices.Contains(language.Kinds(), in.Kind) {
		wrong.Add("kind", "must be one of %s", strings.Join(language.Kinds(), ", "))
	}
	validateName(in.Name, wrong)
	validateSubject(in.Subject, wrong)
	validateSource("html", in.HTML, wrong)
	validateSource("text", in.Text, wrong)
	validateCategory(in.Category, wrong)
	c := content{subject: in.Subject, from: parseFrom(in.From, wrong), replyTo: parseReplyTo(in.ReplyTo, wrong),
		html: in.HTML, text: in.Text, translated: validateTranslations(in.Translations, wrong),
		variables: language.ValidateVariables(in.Variables, wrong), unsubscribe: in.UnsubscribeEnabled,
		category: in.Category}
	c.check(cmp.Or(in.Kind, language.KindTemplate), wrong)
	return c, wrong
}

// Add creates a template. It is a draft, which sends cannot use until it is published.
func (s *Service) Add(ctx context.Context, accountID string, in NewTemplate) (Template, error) {
	c, wrong := in.parse()
	if err := wrong.Err(); err != nil {
		return Template{}, err
	}
	return s.add(ctx, accountID, cmp.Or(in.Kind, language.KindTemplate), in.Alias, in.Name, c, in.Keep)
}

func (s *Service) add(ctx context.Context, accountID, kind, alias, name string, c content,
	keep StoreTemplateResponse) (made Template, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		create := tx.Template.Create().SetID(id.New(id.Template)).SetAccountID(accountID).
			SetKind(kind).SetNillableAlias(orNull(alias)).SetName(name)
		setFields(create.Mutation(), c)
		row, err := create.Save(ctx)
		if err != nil {
			return err
		}
		made = Template{Template: row, HasUnpublishedChanges: true, hasHTML: row.HTML != nil, hasText: row.Text != nil}
		if keep == nil {
			return nil
		}
		return keep(ctx, tx, made)
	})
	if fault.IsDuplicate(err) {
		return Template{}, aliasTaken(alias).WithCause(err)
	}
	if err != nil {
		return Template{}, fmt.Errorf("add template: %w", err)
	}
	return made, nil
}

// setFields sets the fields of a draft.
func setFields(m *ent.TemplateMutation, c content) {
	m.SetSubject(c.subject)
	m.SetFrom(c.from)
	m.SetReplyTo(orNone(c.replyTo))
	m.SetVariables(orNone(c.variables))
	m.SetUnsubscribeEnabled(c.unsubscribe)
	set := func(value string, set func(string), unset func()) {
		if value == "" {
			unset()
			return
		}
		set(value)
	}
	set(c.html, m.SetHTML, m.ClearHTML)
	set(c.text, m.SetText, m.ClearText)
	set(c.category, m.SetCategory, m.ClearCategory)
	if len(c.translated) == 0 {
		m.ClearTranslations()
		m.ClearLocales()
		return
	}
	m.SetTranslations(c.translated)
	m.SetLocales(summarize(c.translated))
}

// orNone returns an empty list for nil, so that equal drafts have equal rows.
func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func aliasTaken(alias string) *fault.Error {
	return fault.Conflictf(fault.CodeConflict, "This account already has a template with the alias %s", alias)
}
