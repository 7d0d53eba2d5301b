package automations

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/steps"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// usesSQL finds the automations that start or continue runs with a version that refers to a template.
const usesSQL = `
SELECT a.name FROM automations a WHERE a.account_id = $1 AND a.status <> 'draft' AND EXISTS (
	SELECT FROM automation_versions v WHERE v.automation_id = a.id
		AND (v.definition @> jsonb_build_object('steps', jsonb_build_array(jsonb_build_object('template', jsonb_build_object('id', $2::text))))
			OR v.definition @> jsonb_build_object('steps', jsonb_build_array(jsonb_build_object('template', jsonb_build_object('alias', $3::text)))))
		AND (v.number = a.version AND a.status IN ('active', 'paused')
			OR EXISTS (SELECT FROM automation_works w WHERE w.automation_id = a.id AND w.version = v.number)))
ORDER BY a.name`

// usesOfTemplate returns the names of the automations that use a template, as specified by templates.UseFinder.
func usesOfTemplate(ctx context.Context, on db.Execer, accountID, id, alias string) ([]string, error) {
	names, err := db.All(ctx, on, func(name *string) []any { return []any{name} }, usesSQL, accountID, id, alias)
	if err != nil {
		return nil, fmt.Errorf("list automations that use a template: %w", err)
	}
	return names, nil
}

// lockTemplates locks the templates of a version that is being activated. It returns Conflict if one was
// deleted after the version was checked.
func lockTemplates(
	ctx context.Context, on db.Execer, locks steps.Templates, accountID string, program *machine.Program,
) error {
	for i := range program.Definition.Steps {
		step := &program.Definition.Steps[i]
		if step.Template == nil {
			continue
		}
		exists, err := locks.LockForUse(ctx, on, accountID, step.Template.ID, step.Template.Alias)
		if err != nil {
			return err
		}
		if !exists {
			return fault.Conflictf(fault.CodeConflict,
				"The template of step %s was deleted; check the automation again", step.Key)
		}
	}
	return nil
}
