package templates

import (
	"context"
	"fmt"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// UseFinder returns the names of the objects in an account that use a template, by its id or by its alias. An empty
// id or alias matches nothing. It runs in the transaction that removes the template or the alias, which has
// locked the template.
type UseFinder func(ctx context.Context, on db.Execer, accountID, id, alias string) (names []string, err error)

// RegisterUse registers a Use before the service starts. A template in use cannot be deleted, and its alias
// cannot change.
func (s *Service) RegisterUse(u UseFinder) { s.uses = append(s.uses, u) }

// maxUsers is the maximum number of names in an error.
const maxUsers = 5

// checkUnused returns a Conflict that names the objects using a template. An empty id checks only the alias.
func (s *Service) checkUnused(ctx context.Context, on db.Execer, t *ent.Template, id, action string) error {
	var users []string
	for _, use := range s.uses {
		names, err := use(ctx, on, t.AccountID, id, orEmpty(t.Alias))
		if err != nil {
			return fmt.Errorf("list uses of the template: %w", err)
		}
		users = append(users, names...)
	}
	if len(users) == 0 {
		return nil
	}
	shown := strings.Join(users[:min(len(users), maxUsers)], ", ")
	if more := len(users) - maxUsers; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return fault.Conflictf(fault.CodeConflict, "The %s is in use by %s; change or archive them before you %s",
		t.Kind, shown, action).
		With(fault.DetailUsedBy, users)
}

const usesOfComponentSQL = `
SELECT t.name FROM templates t
 WHERE t.account_id = $1 AND EXISTS (
	SELECT FROM jsonb_array_elements(t.components) c JOIN templates l ON l.id = c->>'template_id'
	 WHERE l.account_id = $1 AND (l.id = $2 OR l.alias = $3))
 ORDER BY t.name, t.id`

// usesOfComponent returns the names of the templates whose published version contains a layout or partial.
func usesOfComponent(ctx context.Context, on db.Execer, accountID, id, alias string) ([]string, error) {
	names, err := db.All(ctx, on, func(name *string) []any { return []any{name} }, usesOfComponentSQL, accountID, id, alias)
	return names, fault.Wrap("list templates that use a component", err)
}

const lockForUseSQL = `SELECT id FROM templates WHERE account_id = $1 AND (id = $2 OR alias = $3) AND kind = 'template' FOR SHARE`

// LockForUse prevents a template from being deleted, and its alias from moving, until the transaction ends. It
// reports whether the template exists. Layouts and partials are not templates that can be sent.
func (s *Service) LockForUse(ctx context.Context, on db.Execer, accountID, id, alias string) (bool, error) {
	found, err := db.All(ctx, on, func(id *string) []any { return []any{id} }, lockForUseSQL, accountID, id, alias)
	if err != nil {
		return false, fmt.Errorf("lock template: %w", err)
	}
	return len(found) > 0, nil
}
