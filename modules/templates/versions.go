package templates

import (
	"context"
	"strconv"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/templateversion"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Versions returns one page of a template's versions, newest first, without html and text. It returns NotFound
// or Invalid.
func (s *Service) Versions(ctx context.Context, accountID, idOrAlias string,
	r page.Request) (page.Page[*ent.TemplateVersion], error) {
	t, err := s.find(ctx, s.db.Ent.Template, accountID, idOrAlias)
	if err != nil {
		return page.Page[*ent.TemplateVersion]{}, err
	}
	return page.Read(s.cursors, page.List{Name: "templates/" + t.ID + "/versions", AccountID: accountID}, r,
		func(at page.Position) ([]*ent.TemplateVersion, error) {
			return s.db.Ent.TemplateVersion.Query().
				Where(templateversion.AccountID(accountID), templateversion.TemplateID(t.ID),
					at.NewestFirst(templateversion.FieldNumber)).
				Order(at.Order(templateversion.FieldNumber)).Limit(at.Rows()).
				Select(withoutBodies(templateversion.Columns)...).All(ctx)
		}, func(v *ent.TemplateVersion) string { return strconv.Itoa(v.Number) })
}

// CountVersions counts the versions of a template, up to a limit.
func (s *Service) CountVersions(ctx context.Context, accountID, templateID string, most int) (int, error) {
	found, err := s.db.Ent.TemplateVersion.Query().
		Where(templateversion.AccountID(accountID), templateversion.TemplateID(templateID)).Limit(most).IDs(ctx)
	return len(found), err
}

// Version returns one version with its html and text, in the form that sends use.
func (s *Service) Version(ctx context.Context, accountID, idOrAlias string, number int) (*ent.TemplateVersion, error) {
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
