package figures

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/storage/db"
)

// MostEmails is the number of newest emails counted per step.
const MostEmails = 10_000

// atOnce is the maximum number of emails per request to the modules that own them.
const atOnce = 50_000

// Emails counts the outcomes of the emails of a step.
type Emails struct {
	records.Counts
	tracking.Reach
}

// ByStep contains the email figures of an automation, keyed by step.
type ByStep struct{ Steps map[string]Emails }

// Step returns the figures of a step.
func (b *ByStep) Step(key string) Emails { return b.Steps[key] }

// emailsSQL lists the newest emails of each step that sends email, in one version or in all. Email ids are
// ordered by time.
const emailsSQL = `
WITH place AS (
	SELECT v.number AS version, (e.n - 1)::int AS step_index, e.step->>'key' AS key
	FROM automation_versions v, jsonb_array_elements(v.definition->'steps') WITH ORDINALITY AS e (step, n)
	WHERE v.account_id = $1 AND v.automation_id = $2 AND ($3 = 0 OR v.number = $3) AND e.step->>'type' = ANY ($5::text[])
)
SELECT key, email_id FROM (
	SELECT p.key, m.email_id, row_number() OVER (PARTITION BY p.key ORDER BY m.email_id DESC) AS nth
	FROM place p CROSS JOIN LATERAL (
		SELECT s.email_id FROM automation_steps s
		WHERE s.automation_id = $2 AND s.version = p.version AND s.step_index = p.step_index AND s.status = 'sent' AND s.email_id IS NOT NULL
		ORDER BY s.email_id DESC LIMIT $4
	) AS m
) AS newest WHERE nth <= $4`

// countEmails counts the outcomes of an automation's emails.
func (s *Service) countEmails(ctx context.Context, accountID, automationID string, version int) (*ByStep, error) {
	out := &ByStep{map[string]Emails{}}
	var keys, ids []string
	flush := func() error {
		err := s.addEmails(ctx, accountID, keys, ids, out)
		keys, ids = keys[:0], ids[:0]
		return err
	}
	type sent struct{ key, emailID string }
	list, err := db.All(ctx, s.db.SQL, func(e *sent) []any { return []any{&e.key, &e.emailID} }, emailsSQL, accountID,
		automationID, version, MostEmails,
		db.Array(definition.TypesSending(definition.MediumEmail)))
	if err != nil {
		return nil, fmt.Errorf("list the emails of steps: %w", err)
	}
	for _, e := range list {
		if keys, ids = append(keys, e.key), append(ids, e.emailID); len(ids) == atOnce {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	return out, flush()
}

// addEmails adds the counts from the modules that own emails; ids[i] is an email of the step keys[i].
func (s *Service) addEmails(ctx context.Context, accountID string, keys, ids []string, out *ByStep) error {
	if len(ids) == 0 {
		return nil
	}
	counts, err := s.near.Emails.GroupCounts(ctx, accountID, keys, ids)
	if err != nil {
		return err
	}
	reach := map[string]tracking.Reach{}
	if s.near.Visits != nil {
		if reach, err = s.near.Visits.GroupReach(ctx, accountID, keys, ids); err != nil {
			return err
		}
	}
	for key, c := range counts {
		sum := out.Steps[key]
		sum.Sent += c.Sent
		sum.Delivered += c.Delivered
		sum.Bounced += c.Bounced
		sum.Counts.Failed += c.Failed
		sum.Opened += reach[key].Opened
		sum.Clicked += reach[key].Clicked
		out.Steps[key] = sum
	}
	return nil
}
