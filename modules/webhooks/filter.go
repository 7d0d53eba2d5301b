package webhooks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Limits of an endpoint's filter.
const (
	MaxFilterEntries = 50  // per list
	MaxTagFilter     = 256 // bytes of a name or value
)

// matchesSQL returns the condition that the event with the given subject matches the filter of the endpoint w. The
// subject decides what the event is about: a sent email, a received email, a domain or a run. An event that lacks an
// attribute does not match a filter by it. Endpoints without a filter, the common case, read no other table.
func matchesSQL(subject string) string {
	return `(w.filter IS NULL OR EXISTS (
		SELECT FROM (
			SELECT m.domain_id, m.template_id, m.automation_id, m.tags FROM emails m WHERE m.id = ` + subject + ` AND m.account_id = w.account_id
			UNION ALL SELECT r.domain_id, NULL AS template_id, NULL AS automation_id, NULL AS tags FROM received_emails r WHERE r.id = ` + subject + ` AND r.account_id = w.account_id
			UNION ALL SELECT NULL AS domain_id, NULL AS template_id, a.automation_id, NULL AS tags FROM automation_runs a WHERE a.id = ` + subject + ` AND a.account_id = w.account_id
			UNION ALL SELECT ` + subject + `, NULL AS template_id, NULL AS automation_id, NULL AS tags
		) about
		WHERE (NOT w.filter ? 'domain_ids' OR w.filter->'domain_ids' ? about.domain_id)
			AND (NOT w.filter ? 'template_ids' OR w.filter->'template_ids' ? about.template_id)
			AND (NOT w.filter ? 'automation_ids' OR w.filter->'automation_ids' ? about.automation_id)
			AND (NOT w.filter ? 'tags' OR EXISTS (SELECT FROM jsonb_array_elements(w.filter->'tags') tag WHERE about.tags @> jsonb_build_array(tag)))
	))`
}

// filterList is one list of ids of a filter.
type filterList struct {
	field string
	ids   []string
	kind  id.Prefix
	noun  string
	table string
}

func filterLists(f *shape.WebhookFilter) []filterList {
	return []filterList{
		{"domain_ids", f.DomainIDs, id.Domain, "a domain", "domains"},
		{"template_ids", f.TemplateIDs, id.Template, "a template", "templates"},
		{"automation_ids", f.AutomationIDs, id.Automation, "an automation", "automations"},
	}
}

// checkFilter adds what is wrong with a filter. A nil filter is valid.
func (s *Service) checkFilter(ctx context.Context, wrong fault.Fields, accountID string, f *shape.WebhookFilter) error {
	if f == nil {
		return nil
	}
	for _, l := range filterLists(f) {
		field := "filter." + l.field
		if len(l.ids) > MaxFilterEntries {
			wrong.Add(field, "cannot have more than %d entries", MaxFilterEntries)
			continue
		}
		// Some strings fail as a parameter: PostgreSQL does not accept NUL.
		valid := slices.DeleteFunc(slices.Clone(l.ids), func(one string) bool { return !id.Is(l.kind, one) })
		known, err := db.All(ctx, s.db.SQL, db.Value[string],
			`SELECT id FROM `+l.table+` WHERE account_id = $1 AND id = ANY($2)`, accountID, db.Array(valid))
		if err != nil {
			return fmt.Errorf("check the filter of a webhook: %w", err)
		}
		for i, one := range l.ids {
			if !slices.Contains(known, one) {
				wrong.Add(fmt.Sprintf("%s[%d]", field, i), "must be the ID of %s of the account", l.noun)
			}
		}
	}
	if len(f.Tags) > MaxFilterEntries {
		wrong.Add("filter.tags", "cannot have more than %d entries", MaxFilterEntries)
		return nil
	}
	for i, tag := range f.Tags {
		if path := fmt.Sprintf("filter.tags[%d]", i); tag.Name == "" {
			wrong.Add(path+".name", "is required")
		} else if max(len(tag.Name), len(tag.Value)) > MaxTagFilter || strings.ContainsRune(tag.Name+tag.Value, 0) {
			wrong.Add(path, "must have a name and a value of at most %d bytes each", MaxTagFilter)
		}
	}
	return nil
}

// orNil returns the filter, or nil if it has no entries and therefore matches every event.
func orNil(f *shape.WebhookFilter) *shape.WebhookFilter {
	if f == nil || len(f.DomainIDs)+len(f.TemplateIDs)+len(f.AutomationIDs)+len(f.Tags) == 0 {
		return nil
	}
	return f
}
