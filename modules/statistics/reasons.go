package statistics

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/fault"
)

// Reason is why mail was refused.
type Reason struct {
	Class        string // what it means, as bad_address: runtime/mail/bounce
	EnhancedCode string // RFC 3463, as 5.1.1; empty: none was said
	Host         string // that refused; empty: not known
	Recipients   int64
	EmailID      string // the newest email that was refused so
	Diagnostic   string // in the words of the host; empty once the email is deleted, since an address may be in them
}

const maxReasons = 100

// reasonsSQL sums whole hours, and what stands behind the mark. The words of an example are read from its facts.
var reasonsSQL = db.Compile(`WITH ` + tailSQL + `, rows AS (
	SELECT class, enhanced_code, host, recipients, start, email_id, domain_id, api_key_id, template_id, automation_id FROM statistics_reasons
	 WHERE account_id = @account AND start >= date_trunc('hour', @since::timestamptz, 'UTC') AND start < @until
	UNION ALL
	SELECT class, enhanced_code, host, recipients, start, email_id, domain_id, api_key_id, template_id, automation_id FROM b
	 WHERE start >= date_trunc('hour', @since::timestamptz, 'UTC') AND start < @until
)
SELECT t.*, coalesce((
	SELECT left(coalesce(x.data->'bounce'->>'diagnostic', x.data->'failure'->>'reason'), 500) FROM facts x
	 WHERE x.subject_id = t.email_id AND x.account_id = @account AND x.type IN ('email.bounced', 'email.failed')
	   AND coalesce(x.data->'bounce'->>'enhanced_code', '') = t.enhanced_code AND coalesce(x.data->'bounce'->>'remote_mta', '') = t.host
	 ORDER BY x.id DESC LIMIT 1), '')
  FROM (SELECT class, enhanced_code, host, sum(recipients)::bigint, (array_agg(email_id ORDER BY start DESC, email_id DESC))[1] AS email_id
  FROM rows WHERE (@domain = '' OR domain_id = @domain) AND (@api_key = '' OR api_key_id = @api_key) AND (@template = '' OR template_id = @template) AND (@automation = '' OR automation_id = @automation) AND (@class = '' OR class = @class)
 GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT @first) t`)

// Reasons gives why an account's mail was refused in a range, which is widened to whole hours, the most
// frequent reason first. Error: Invalid.
func (s *Service) Reasons(ctx context.Context, accountID string, r Range, f Filter, first int) ([]Reason, error) {
	wrong := fault.Fields{}
	r.Check(wrong)
	if first < 1 || first > maxReasons {
		wrong.Add("first", "must be between 1 and %d", maxReasons)
	}
	if f.Tag != "" {
		wrong.Add("filter.tag", "is not known of reasons")
	}
	if f.RecipientDomain != "" {
		wrong.Add("filter.recipientDomain", "is not known of reasons")
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	args := reasonsSQL.Args(db.Arg("account", accountID), db.Arg("since", r.Since), db.Arg("until", r.Until), db.Arg("domain", f.DomainID), db.Arg("api_key", f.APIKeyID),
		db.Arg("template", f.TemplateID), db.Arg("automation", f.AutomationID), db.Arg("class", f.BounceClass), db.Arg("first", first))
	var found []Reason
	err := s.db.Read(ctx, func(on *ent.Client) (err error) {
		found, err = db.All(ctx, on, func(r *Reason) []any {
			return []any{&r.Class, &r.EnhancedCode, &r.Host, &r.Recipients, &r.EmailID, &r.Diagnostic}
		}, reasonsSQL.Text, args...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reasons: %w", err)
	}
	return found, nil
}
