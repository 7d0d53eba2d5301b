package templates

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/templateversion"
	"github.com/postrider/postrider/runtime/base/id"
)

// VersionBodies returns the html and text of versions, keyed by id, both as sent and as their authors wrote
// them. Versions omits these fields. Other fields are not set.
func (s *Service) VersionBodies(ctx context.Context, accountID string,
	versionIDs ...int64) (map[int64]*ent.TemplateVersion, error) {
	accountID = id.HomeAccount(accountID)
	rows, err := s.db.Ent.TemplateVersion.Query().
		Where(templateversion.AccountID(accountID), templateversion.IDIn(versionIDs...)).
		Select(templateversion.FieldID, templateversion.FieldHTML, templateversion.FieldText,
			templateversion.FieldSourceHTML, templateversion.FieldSourceText).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("bodies of versions: %w", err)
	}
	out := make(map[int64]*ent.TemplateVersion, len(rows))
	for _, row := range rows {
		out[row.ID] = row
	}
	return out, nil
}
