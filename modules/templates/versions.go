package templates

import (
	"context"
	"strconv"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/templateversion"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Versions returns one page of a template's versions, newest first, without html and text. It returns NotFound
// or Invalid.
func (s *Service) Versions(ctx context.Context, accountID, idOrAlias string,
	r page.Request) (page.Page[*ent.TemplateVersion], error) {
	return listNumbered(ctx, s, accountID, idOrAlias, "versions", r,
		func(accountID, templateID string, at page.Position) ([]*ent.TemplateVersion, error) {
			return s.db.Ent.TemplateVersion.Query().
				Where(templateversion.AccountID(accountID), templateversion.TemplateID(templateID),
					at.NewestFirst(templateversion.FieldNumber)).
				Order(at.Order(templateversion.FieldNumber)).Limit(at.Rows()).
				Select(withoutBodies(templateversion.Columns)...).All(ctx)
		}, func(v *ent.TemplateVersion) int { return v.Number })
}

// listNumbered returns one page of the numbered rows of a template: its versions or edits.
func listNumbered[T any](ctx context.Context, s *Service, accountID, idOrAlias, list string, r page.Request,
	read func(accountID, templateID string, at page.Position) ([]T, error), number func(T) int) (page.Page[T], error) {
	accountID = id.HomeAccount(accountID)
	t, err := s.find(ctx, s.db.Ent.Template, accountID, idOrAlias)
	if err != nil {
		return page.Page[T]{}, err
	}
	return page.Read(s.cursors, page.List{Name: "templates/" + t.ID + "/" + list, AccountID: accountID}, r,
		func(at page.Position) ([]T, error) { return read(accountID, t.ID, at) },
		func(row T) string { return strconv.Itoa(number(row)) })
}

// CountVersions counts the versions of a template, up to a limit.
func (s *Service) CountVersions(ctx context.Context, accountID, templateID string, most int) (int, error) {
	accountID = id.HomeAccount(accountID)
	found, err := s.db.Ent.TemplateVersion.Query().
		Where(templateversion.AccountID(accountID), templateversion.TemplateID(templateID)).Limit(most).IDs(ctx)
	return len(found), err
}

// Version returns one version with its html and text, in the form that sends use.
func (s *Service) Version(ctx context.Context, accountID, idOrAlias string, number int) (*ent.TemplateVersion, error) {
	accountID = id.HomeAccount(accountID)
	t, err := s.find(ctx, s.db.Ent.Template, accountID, idOrAlias)
	if err != nil {
		return nil, err
	}
	v, err := s.getVersion(ctx, s.db.Ent.TemplateVersion, accountID, t.ID, number)
	if err != nil && fault.KindOf(err) == fault.Invalid {
		return nil, fault.NoSuch("version", strconv.Itoa(number))
	}
	return v, err
}
