package deliverability

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/bounce"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// ReplyCause summarizes the replies of one mailbox provider with one cause.
type ReplyCause struct {
	Cause       string // class of the replies
	Recipients  int64  // among the newest that were refused or deferred
	Reason, Fix string
	Reply       string // the newest reply that names no recipient; may be empty
}

const (
	placementFacts   = 10_000 // newest events of the account that are searched for replies
	placementReplies = 1_000
	placementCauses  = 3 // per provider

	placementRepliesSQL = `
SELECT lower(substring(f.recipient FROM '[^@]*$')), t.class, t.reply, f.recipient
  FROM (SELECT subject_id, type, id, coalesce(data->>'recipient', '') AS recipient FROM facts WHERE account_id = $1 AND id >= $2 ORDER BY id DESC LIMIT $6) f
  JOIN emails m ON m.id = f.subject_id AND m.account_id = $1 AND m.domain_id = $3,
	LATERAL (SELECT t.class, t.reply FROM recipients p JOIN attempts t ON t.email_id = p.email_id AND t.recipient_id = p.id
		WHERE p.email_id = m.id AND p.address = f.recipient AND t.class <> '' ORDER BY t.id DESC LIMIT 1) t
 WHERE f.type = ANY($4::text[]) AND lower(substring(f.recipient FROM '[^@]*$')) = ANY($5::text[]) ORDER BY f.id DESC LIMIT $7`
)

// readPlacementReplies adds the replies of the last week to the placement of a domain, grouped by cause.
func (s *Service) readPlacementReplies(ctx context.Context, accountID, domainID string, now time.Time,
	list []Placement) error {
	var names []string
	for _, p := range list {
		if p.This.Bounced+p.This.Failed+p.This.Delayed > 0 {
			names = append(names, p.RecipientDomains...)
		}
	}
	if len(names) == 0 {
		return nil
	}
	type placed struct {
		domain string
		reply
	}
	found, err := db.All(ctx, s.db.SQL, func(p *placed) []any { return []any{&p.domain, &p.class, &p.text, &p.recipient} },
		placementRepliesSQL, accountID, id.Since(id.Fact, now.Truncate(24*time.Hour).AddDate(0, 0, -6)), domainID,
		db.Array([]string{string(event.EmailBounced), string(event.EmailFailed), string(event.EmailDeliveryDelayed)}),
		db.Array(names), placementFacts, placementReplies)
	if err != nil {
		return fmt.Errorf("replies of receivers: %w", err)
	}
	for i := range list {
		var replies []reply
		for _, p := range found {
			if slices.Contains(list[i].RecipientDomains, p.domain) {
				replies = append(replies, p.reply)
			}
		}
		list[i].Causes = groupReplies(replies)
	}
	return nil
}

// groupReplies returns the most frequent causes. A recipient that was deferred several times counts once.
func groupReplies(replies []reply) []ReplyCause {
	recipients := map[bounce.Class]map[string]bool{}
	for _, r := range replies {
		if recipients[r.class] == nil {
			recipients[r.class] = map[string]bool{}
		}
		recipients[r.class][r.recipient] = true
	}
	var out []ReplyCause
	for class, named := range recipients {
		c := ReplyCause{Cause: string(class), Recipients: int64(len(named)), Reply: exampleOf(replies, class)}
		c.Reason, c.Fix = explainCause(class)
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b ReplyCause) int {
		return cmp.Or(cmp.Compare(b.Recipients, a.Recipients), cmp.Compare(a.Cause, b.Cause))
	})
	return out[:min(len(out), placementCauses)]
}
