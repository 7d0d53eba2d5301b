package rollup

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// Latency bins begin at 0.1 seconds, and each is 1.2 times as wide as the previous one, so that the middle of
// a bin differs from its values by at most 10 %. The last bin begins at four and a half days.
const (
	FirstBin = 0.1
	Widening = 1.2
	LastBin  = 84
)

const (
	machine = `coalesce(%[1]s.data->'open'->>'machine', %[1]s.data->'click'->>'machine', 'false') = 'true'`
	whom    = `coalesce(%[1]s.data->>'recipient', %[1]s.data->>'email', '')`
	quarter = `extract(epoch FROM date_bin('15 minutes', %s, timestamptz '2000-01-01 00:00:00Z'))::bigint`
)

// factsSQL reads the facts of a selection, which is a condition on f. Opens and clicks by machines do not
// count, and of repeated results for a recipient only the first one counts. Everything else about a fact is
// looked up by its ids, one fact at a time, because the planner does not know how many facts a selection has.
func factsSQL(selection string) string {
	return `
WITH f AS MATERIALIZED (
	SELECT f.account_id, f.type, f.created_at, f.subject_id, ` + fmt.Sprintf(whom, "f") + ` AS whom, CASE WHEN f.type IN ('email.bounced', 'email.failed') THEN f.data->'bounce' END AS bounce
	  FROM facts f
	 WHERE ` + selection + `
	   AND f.type IN ('email.sent', 'email.delivered', 'email.delivery_delayed', 'email.bounced', 'email.failed', 'email.complained', 'email.opened', 'email.clicked',
		'email.suppressed', 'contact.unsubscribed')
	   AND (f.type IN ('email.sent', 'email.delivered', 'email.failed', 'email.suppressed') OR NOT ` + fmt.Sprintf(machine, "f") + ` AND NOT EXISTS (
		SELECT FROM facts e WHERE e.subject_id = f.subject_id AND e.id < f.id AND e.type = f.type AND e.account_id = f.account_id
		   AND ` + fmt.Sprintf(whom, "e") + ` = ` + fmt.Sprintf(whom, "f") + ` AND NOT ` + fmt.Sprintf(machine, "e") + `))
)
SELECT f.account_id, f.type, ` + fmt.Sprintf(quarter, "f.created_at") + `, ` + fmt.Sprintf(quarter, "coalesce(m.sent_at, f.created_at)") + `,
	coalesce(m.domain_id, ''), coalesce(m.api_key_id, ''), coalesce(m.template_id, ''), coalesce(m.automation_id, ''), coalesce(m.tags::text, ''),
	r.reach, coalesce(r.destinations, ''), f.whom <> '', CASE WHEN f.whom <> '' THEN lower(substring(f.whom FROM '[^@]*$')) WHEN r.least = r.greatest THEN r.least ELSE '' END,
	CASE WHEN f.type = 'email.delivered' AND m.sent_at IS NOT NULL THEN ` + binSQL + ` ELSE -1 END,
	CASE WHEN f.type IN ('email.bounced', 'email.failed') THEN coalesce(
		(SELECT t.class FROM recipients p JOIN attempts t ON t.email_id = p.email_id AND t.recipient_id = p.id
		  WHERE p.email_id = m.id AND p.address = f.whom AND t.class <> '' ORDER BY t.id DESC LIMIT 1),
		(SELECT d.class FROM delivery_reports d WHERE d.email_id = m.id AND d.class <> '' ORDER BY d.id DESC LIMIT 1), 'unknown') ELSE '' END,
	coalesce(f.bounce->>'enhanced_code', ''), coalesce(f.bounce->>'remote_mta', ''), max(f.subject_id), count(*)
  FROM f
  LEFT JOIN LATERAL (SELECT * FROM emails m WHERE m.id = f.subject_id AND m.account_id = f.account_id LIMIT 1) m ON true,
	LATERAL (SELECT count(*) AS reach, min(destination) AS least, max(destination) AS greatest, string_agg(destination, ' ' ORDER BY destination) AS destinations
		FROM recipients r WHERE r.email_id = m.id AND (f.type = 'email.sent' OR f.whom = '')) r
 GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17`
}

var binSQL = fmt.Sprintf(`least(greatest(floor(ln(greatest(extract(epoch FROM f.created_at - m.sent_at), 0.001)::float8 / %[1]v) / ln(%[2]v::float8)), 0), %[3]d)::int`, FirstBin, Widening, LastBin)

// runsSQL reads the facts about runs of a selection, which is a condition on f. A run that fails and is retried
// has several ends, and each of them counts.
func runsSQL(selection string) string {
	return `
WITH f AS MATERIALIZED (
	SELECT f.account_id, f.type, f.created_at, f.subject_id, coalesce(f.data->>'automation_id', '') AS automation_id FROM facts f
	 WHERE ` + selection + `
	   AND f.type IN ('automation.started', 'automation.completed', 'automation.failed', 'automation.cancelled', 'automation.converted')
)
SELECT f.account_id, f.automation_id, f.type, ` + fmt.Sprintf(quarter, "f.created_at") + `, ` + fmt.Sprintf(quarter, "coalesce(r.started_at, f.created_at)") + `,
	r.goal_until IS NOT NULL, count(*)
  FROM f LEFT JOIN LATERAL (SELECT started_at, goal_until FROM automation_runs r WHERE r.id = f.subject_id AND r.account_id = f.account_id LIMIT 1) r ON true
 GROUP BY 1, 2, 3, 4, 5, 6`
}

// Selection selects facts: text reads those about mail, and runs those about runs.
type Selection struct{ text, runs string }

func newSelection(condition string) Selection {
	return Selection{factsSQL(condition), runsSQL(condition)}
}

var (
	// Between selects the facts with ids in [$1, $2).
	Between = newSelection(`f.id >= $1 AND f.id < $2`)
	// OfAccount selects the facts of account $3 with ids in [$1, $2).
	OfAccount = newSelection(`f.id >= $1 AND f.id < $2 AND f.account_id = $3`)
	// About selects the facts of account $1 about the emails or runs $2 with ids from $3 on.
	About = newSelection(`f.account_id = $1 AND f.subject_id = ANY($2) AND f.id >= $3`)
)

// ReadRuns counts the facts about runs of a selection, like Read.
func (r *Rollup) ReadRuns(ctx context.Context, on db.Execer, of Selection, sign int64, args ...any) error {
	err := db.Each(ctx, on, func(row db.Row) error {
		var f RunFacts
		var at [Placements]int64
		if err := row.Scan(&f.AccountID, &f.AutomationID, &f.Type, &at[ByEvent], &at[ByEmail], &f.HasGoal,
			&f.Count); err != nil {
			return err
		}
		f.Count *= sign
		for placed, seconds := range at {
			f.At[placed] = time.Unix(seconds, 0).UTC()
		}
		r.AddRuns(&f)
		return nil
	}, of.runs, args...)
	if err != nil {
		return fmt.Errorf("read facts about runs to be counted: %w", err)
	}
	return nil
}

// Read counts the facts about mail of a selection with a sign: 1 to add, -1 to subtract.
func (r *Rollup) Read(ctx context.Context, on db.Execer, of Selection, sign int64, args ...any) error {
	tags := map[string][]string{}
	err := db.Each(ctx, on, func(row db.Row) error {
		var f Facts
		var at [Placements]int64
		var encodedTags, destinations string
		err := row.Scan(&f.AccountID, &f.Type, &at[ByEvent], &at[ByEmail], &f.By.DomainID, &f.By.APIKeyID,
			&f.By.TemplateID, &f.By.AutomationID, &encodedTags,
			&f.Recipients, &destinations, &f.Named, &f.Domain, &f.Bin, &f.Class, &f.EnhancedCode, &f.Host,
			&f.EmailID, &f.Count)
		if err != nil {
			return err
		}
		list, known := tags[encodedTags]
		if !known {
			list = tagsOf(encodedTags)
			tags[encodedTags] = list
		}
		f.Tags, f.Count = list, sign*f.Count
		f.Destinations = strings.Fields(destinations)
		for placed, seconds := range at {
			f.At[placed] = time.Unix(seconds, 0).UTC()
		}
		r.Add(&f)
		return nil
	}, of.text, args...)
	if err != nil {
		return fmt.Errorf("read facts to be counted: %w", err)
	}
	return nil
}

// tagsOf returns the distinct tags of an email, or none if the value is not a list of tags.
func tagsOf(encoded string) (tags []string) {
	var list []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	if encoded == "" || json.Unmarshal([]byte(encoded), &list) != nil {
		return nil
	}
	seen := map[string]bool{}
	for _, t := range list {
		if tag := t.Name + "=" + t.Value; !seen[tag] {
			seen[tag] = true
			tags = append(tags, tag)
		}
	}
	return tags
}
