package templates

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/ent/template"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// TemplateChange is the input of Update. Nil fields stay unchanged. An empty alias, html, text or category removes it.
type TemplateChange struct {
	Alias              *string
	Name               *string
	Subject            *string
	From               *Mailbox
	ReplyTo            *[]Mailbox
	HTML               *string
	Text               *string
	Translations       *[]shape.Translation
	Variables          *[]shape.Variable
	UnsubscribeEnabled *bool
	Category           *string
}

// IsZero reports whether c changes nothing.
func (c TemplateChange) IsZero() bool { return c == TemplateChange{} }

// Validate reports every invalid field.
func (c TemplateChange) Validate() fault.Fields {
	_, wrong := c.parse()
	return wrong
}

// parse returns a function that applies the change to a draft.
func (c TemplateChange) parse() (apply func(content) content, wrong fault.Fields) {
	wrong = fault.Fields{}
	if c.Alias != nil && *c.Alias != "" && badAlias(*c.Alias) != "" {
		wrong.Add("alias", "%s", badAlias(*c.Alias))
	}
	if c.Name != nil {
		validateName(*c.Name, wrong)
	}
	var changed content
	var does []func(*content)
	if c.Subject != nil {
		changed.subject = *c.Subject
		validateSubject(*c.Subject, wrong)
		does = append(does, func(to *content) { to.subject = changed.subject })
	}
	if c.From != nil {
		changed.from = parseFrom(*c.From, wrong)
		does = append(does, func(to *content) { to.from = changed.from })
	}
	if c.ReplyTo != nil {
		changed.replyTo = parseReplyTo(*c.ReplyTo, wrong)
		does = append(does, func(to *content) { to.replyTo = changed.replyTo })
	}
	if c.HTML != nil {
		changed.html = *c.HTML
		validateSource("html", *c.HTML, wrong)
		does = append(does, func(to *content) { to.html = changed.html })
	}
	if c.Text != nil {
		changed.text = *c.Text
		validateSource("text", *c.Text, wrong)
		does = append(does, func(to *content) { to.text = changed.text })
	}
	if c.Translations != nil {
		changed.translated = validateTranslations(*c.Translations, wrong)
		does = append(does, func(to *content) { to.translated = changed.translated })
	}
	if c.Variables != nil {
		changed.variables = language.ValidateVariables(*c.Variables, wrong)
		does = append(does, func(to *content) { to.variables = changed.variables })
	}
	if c.UnsubscribeEnabled != nil {
		does = append(does, func(to *content) { to.unsubscribe = *c.UnsubscribeEnabled })
	}
	if c.Category != nil {
		validateCategory(*c.Category, wrong)
		does = append(does, func(to *content) { to.category = *c.Category })
	}
	changed.check("", wrong)
	return func(to content) content {
		for _, do := range does {
			do(&to)
		}
		return to
	}, wrong
}

// Revision describes the circumstances of an update. All fields are optional.
type Revision struct {
	Etag   string // of the draft that the author read
	Author string // ID of a user or an API key
	Force  bool   // change the alias although it is in use
}

// Update changes the draft, and records the draft in its history; the alias and the name change immediately. Sends
// use the published version until the draft is published. It returns Invalid, NotFound, or Conflict if the alias is
// taken or the draft has changed since the etag of the revision.
func (s *Service) Update(ctx context.Context, accountID, idOrAlias string, c TemplateChange,
	by Revision) (now Template, err error) {
	apply, wrong := c.parse()
	if err := wrong.Err(); err != nil {
		return Template{}, err
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		before, err := s.lock(ctx, tx, accountID, idOrAlias)
		if err != nil {
			return err
		}
		if by.Etag != "" && by.Etag != (Template{Template: before}).Etag() {
			return fault.Conflictf(fault.CodeConflict, "The draft has changed since you read it; read it again").
				With(fault.DetailChangedAt, before.UpdatedAt.UTC().Format(time.RFC3339Nano))
		}
		alias := orEmpty(before.Alias)
		if c.Alias != nil && alias != "" && *c.Alias != alias && !by.Force {
			if err := s.checkUnused(ctx, tx, before, "", "change its alias"); err != nil {
				return err
			}
		}
		row, err := c.storeWithHistory(ctx, tx, before, apply, by.Author)
		if err != nil {
			return err
		}
		now, err = s.loadTemplate(ctx, tx, row)
		return err
	})
	if fault.IsDuplicate(err) {
		return Template{}, aliasTaken(*c.Alias).WithCause(err)
	}
	if err != nil {
		return Template{}, fmt.Errorf("update template: %w", err)
	}
	s.invalidateLookups() // the alias may have changed
	return now, nil
}

// storeWithHistory stores a change that has an effect, and records a changed draft in its history.
func (c TemplateChange) storeWithHistory(ctx context.Context, tx *ent.Tx, before *ent.Template,
	apply func(content) content, author string) (*ent.Template, error) {
	draft := draftOf(before)
	if reflect.DeepEqual(draft, apply(draft)) {
		if !c.renames(before) {
			return before, nil
		}
		return c.store(ctx, tx, before, apply)
	}
	if err := recordFirstEdit(ctx, tx, before); err != nil {
		return nil, err
	}
	row, err := c.store(ctx, tx, before, apply)
	if err != nil {
		return nil, err
	}
	return row, recordEdit(ctx, tx, row, author, false)
}

// renames reports whether the change has another name or alias than the template.
func (c TemplateChange) renames(t *ent.Template) bool {
	return c.Alias != nil && *c.Alias != orEmpty(t.Alias) || c.Name != nil && *c.Name != t.Name
}

func (c TemplateChange) store(ctx context.Context, tx *ent.Tx, before *ent.Template,
	apply func(content) content) (*ent.Template, error) {
	at, err := db.Now(ctx, tx)
	if err != nil {
		return nil, err
	}
	update := tx.Template.UpdateOneID(before.ID).Where(template.AccountID(before.AccountID)).SetUpdatedAt(at)
	setFields(update.Mutation(), apply(draftOf(before)))
	if c.Name != nil {
		update.SetName(*c.Name)
	}
	if c.Alias != nil {
		if update.SetAlias(*c.Alias); *c.Alias == "" {
			update.ClearAlias()
		}
	}
	return update.Save(ctx)
}

// Delete deletes a template and its versions. Emails sent with it do not change, nor do published templates that
// contain it. It returns NotFound, or Conflict if the template is in use, unless force is set.
func (s *Service) Delete(ctx context.Context, accountID, idOrAlias string, force bool) error {
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		t, err := s.lock(ctx, tx, accountID, idOrAlias)
		if err != nil {
			return err
		}
		if !force {
			if err := s.checkUnused(ctx, tx, t, t.ID, "delete it"); err != nil {
				return err
			}
		}
		return tx.Template.DeleteOneID(t.ID).Where(template.AccountID(accountID)).Exec(ctx)
	})
	if err != nil {
		return fmt.Errorf("delete template: %w", err)
	}
	s.invalidateLookups()
	return nil
}

// Duplicate creates a new template from the draft of another. The new one has no alias, has never been
// published, and has (copy) appended to its name.
func (s *Service) Duplicate(ctx context.Context, accountID, idOrAlias string,
	keep StoreTemplateResponse) (Template, error) {
	t, err := s.find(ctx, s.db.Ent.Template, accountID, idOrAlias)
	if err != nil {
		return Template{}, err
	}
	return s.add(ctx, accountID, t.Kind, "", copyName(t.Name), draftOf(t), keep)
}

func copyName(name string) string {
	const mark = " (copy)"
	for utf8.RuneCountInString(name) > MaxName-len(mark) {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name + mark
}

// lock reads a template for a change.
func (s *Service) lock(ctx context.Context, tx *ent.Tx, accountID, idOrAlias string) (*ent.Template, error) {
	found, err := s.find(ctx, tx.Template, accountID, idOrAlias)
	if err != nil {
		return nil, err
	}
	locked, err := db.One(ctx, tx, db.Value[string], `SELECT id FROM templates WHERE id = $1 AND account_id = $2 FOR UPDATE`, found.ID, accountID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, notFound(idOrAlias)
	}
	if err != nil {
		return nil, err
	}
	return s.find(ctx, tx.Template, accountID, locked) // current state under the lock
}
