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

// VersionPage is one page of a template's versions, newest first, without html
// and text.
type VersionPage struct {
	Versions   []*ent.TemplateVersion
	HasMore    bool
	NextCursor string // empty on the last page
}

// Versions lists what was published of a template.
func (s *Service) Versions(ctx context.Context, accountID, idOrAlias string, r page.Request) (VersionPage, error) {
	t, err := s.find(ctx, s.db.Ent.Template, accountID, idOrAlias)
	if err != nil {
		return VersionPage{}, err
	}
	list := page.List{Name: "templates/" + t.ID + "/versions", AccountID: accountID}
	limit, after, err := s.cursors.Open(list, r)
	if err != nil {
		return VersionPage{}, err
	}
	query := s.db.Ent.TemplateVersion.Query().Where(templateversion.AccountID(accountID), templateversion.TemplateID(t.ID)).
		Order(ent.Desc(templateversion.FieldNumber)).Limit(limit + 1)
	if after != "" {
		number, err := strconv.Atoi(after)
		if err != nil {
			return VersionPage{}, fmt.Errorf("cursor of versions: %w", err)
		}
		query.Where(templateversion.NumberLT(number))
	}
	rows, err := query.Select(withoutBodies(templateversion.Columns)...).All(ctx)
	if err != nil {
		return VersionPage{}, fmt.Errorf("list versions: %w", err)
	}
	out := VersionPage{Versions: rows, HasMore: len(rows) > limit}
	if out.HasMore {
		out.Versions = rows[:limit]
		out.NextCursor = s.cursors.Encode(list, strconv.Itoa(rows[limit-1].Number))
	}
	return out, nil
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
