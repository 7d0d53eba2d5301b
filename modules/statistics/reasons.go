package statistics

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Reason is a reason for rejected mail.
type Reason struct {
	Class        string // classification, for example bad_address: runtime/mail/bounce
	EnhancedCode string // RFC 3463, for example 5.1.1; empty if the host sent none
	Host         string // host that rejected the mail; empty if unknown
	Recipients   int64
	EmailID      string // the newest email rejected for this reason
	Diagnostic   string // reply of the host; empty once the email is deleted, because it may contain an address
}

const maxReasons = 100

// reasonsSQL sums complete hours. The diagnostic of an example is read from its facts afterwards.
var reasonsSQL = db.Compile(`SELECT class, enhanced_code, host, sum(recipients)::bigint, (array_agg(email_id ORDER BY start DESC, email_id DESC))[1] FROM statistics_reasons
 WHERE account_id = @account AND start >= date_trunc('hour', @since::timestamptz, 'UTC') AND start < @until AND (@domain = '' OR domain_id = @domain) AND (@api_key = '' OR api_key_id = @api_key)
   AND (@template = '' OR template_id = @template) AND (@automation = '' OR automation_id = @automation) AND (@class = '' OR class = @class)
 GROUP BY 1, 2, 3`)

const diagnosticSQL = `
SELECT coalesce((SELECT left(coalesce(x.data->'bounce'->>'diagnostic', x.data->'failure'->>'reason'), 500) FROM facts x
 WHERE x.subject_id = e.email_id AND x.account_id = $1 AND x.type IN ('email.bounced', 'email.failed')
   AND coalesce(x.data->'bounce'->>'enhanced_code', '') = e.code AND (e.host = '' OR coalesce(x.data->'bounce'->>'remote_mta', '') = e.host)
 ORDER BY x.id DESC LIMIT 1), '') FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS e (email_id, code, host, n) ORDER BY n`

// Reasons returns the reasons for rejections of an account's mail in a range, extended to complete hours,
// most frequent first. Error: Invalid.
func (s *Service) Reasons(ctx context.Context, accountID string, r Range, f Filter, first int) ([]Reason, error) {
	wrong := fault.Fields{}
	r.Check(wrong)
	if first < 1 || first > maxReasons {
		wrong.Add("first", "must be between 1 and %d", maxReasons)
	}
	if f.Tag != "" {
		wrong.Add("filter.tag", "does not apply to reasons")
	}
	if f.RecipientDomain != "" {
		wrong.Add("filter.recipientDomain", "does not apply to reasons")
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	var found []Reason
	err := s.db.Read(ctx, func(on *ent.Client) (err error) {
		return atOnce(ctx, on, func(tx db.Execer) error {
			found, err = readReasons(ctx, tx, accountID, r, f, first)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("reasons: %w", err)
	}
	return found, nil
}

func readReasons(ctx context.Context, tx db.Execer, accountID string, r Range, f Filter, first int) ([]Reason, error) {
	args := reasonsSQL.Args(db.Arg("account", accountID), db.Arg("since", r.Since), db.Arg("until", r.Until),
		db.Arg("domain", f.DomainID), db.Arg("api_key", f.APIKeyID),
		db.Arg("template", f.TemplateID), db.Arg("automation", f.AutomationID), db.Arg("class", f.BounceClass))
	found, err := db.All(ctx, tx, func(r *Reason) []any {
		return []any{&r.Class, &r.EnhancedCode, &r.Host, &r.Recipients, &r.EmailID}
	}, reasonsSQL.Text, args...)
	if err != nil {
		return nil, err
	}
	recent, err := readTail(ctx, tx, accountID)
	if err != nil {
		return nil, err
	}
	since := r.Since.UTC().Truncate(time.Hour)
	for reason, refused := range recent.Reasons {
		if f.matches(reason.By) && (f.BounceClass == "" || f.BounceClass == reason.Class) &&
			!reason.Hour.Before(since) && reason.Hour.Before(r.Until) {
			found = addReason(found, Reason{Class: reason.Class, EnhancedCode: reason.EnhancedCode, Host: reason.Host,
				Recipients: refused.Recipients, EmailID: refused.EmailID})
		}
	}
	slices.SortFunc(found, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Recipients, a.Recipients), cmp.Compare(a.Class, b.Class),
			cmp.Compare(a.EnhancedCode, b.EnhancedCode), cmp.Compare(a.Host, b.Host))
	})
	found = found[:min(first, len(found))]
	var emails, codes, hosts []string
	for _, reason := range found {
		emails, codes, hosts = append(emails, reason.EmailID), append(codes, reason.EnhancedCode), append(hosts,
			reason.Host)
	}
	words, err := db.All(ctx, tx, db.Value[string], diagnosticSQL, accountID, db.Array(emails), db.Array(codes),
		db.Array(hosts))
	if err != nil {
		return nil, err
	}
	for i := range words {
		found[i].Diagnostic = words[i]
	}
	return found, nil
}

// addReason adds uncounted rejections to counted ones. Their email is newer.
func addReason(to []Reason, more Reason) []Reason {
	at := slices.IndexFunc(to, func(r Reason) bool {
		return r.Class == more.Class && r.EnhancedCode == more.EnhancedCode && r.Host == more.Host
	})
	if at < 0 {
		return append(to, more)
	}
	to[at].Recipients += more.Recipients
	to[at].EmailID = more.EmailID
	return to
}
