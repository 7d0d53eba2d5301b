package templates

import (
	"context"
	"fmt"
	"strconv"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/templateversion"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/page"
)

// Versions returns one page of a template's versions, newest first, without html and
// text. Errors: NotFound and Invalid.
func (s *Service) Versions(ctx context.Context, accountID, idOrAlias string, r page.Request) (page.Page[*ent.TemplateVersion], error) {
	t, err := s.find(ctx, s.db.Ent.Template, accountID, idOrAlias)
	if err != nil {
		return page.Page[*ent.TemplateVersion]{}, err
	}
	list := page.List{Name: "templates/" + t.ID + "/versions", AccountID: accountID}
	limit, after, err := s.cursors.Open(list, r)
	if err != nil {
		return page.Page[*ent.TemplateVersion]{}, err
	}
	query := s.db.Ent.TemplateVersion.Query().Where(templateversion.AccountID(accountID), templateversion.TemplateID(t.ID)).
		Order(ent.Desc(templateversion.FieldNumber)).Limit(limit + 1)
	if after != "" {
		number, err := strconv.Atoi(after)
		if err != nil {
			return page.Page[*ent.TemplateVersion]{}, fmt.Errorf("cursor of versions: %w", err)
		}
		query.Where(templateversion.NumberLT(number))
	}
	rows, err := query.Select(withoutBodies(templateversion.Columns)...).All(ctx)
	if err != nil {
		return page.Page[*ent.TemplateVersion]{}, fmt.Errorf("list versions: %w", err)
	}
	return page.Of(s.cursors, list, rows, limit, func(v *ent.TemplateVersion) string { return strconv.Itoa(v.Number) }), nil
}

// Version gives one version with its html and text, as they are sent.
func (s *Service) Version(ctx context.Context, accountID, idOrAlias string, number int) (*ent.TemplateVersion, error) {
	t, err := s.find(ctx, s.db.Ent.Template, accountID, idOrAlias)
	if err != nil {
		return nil, err
	}
	v, err := s.version(ctx, s.db.Ent.TemplateVersion, accountID, t.ID, number)
	if err != nil && fault.KindOf(err) == fault.Invalid {
		return nil, fault.Missing("version", strconv.Itoa(number))
	}
	return v, err
}
