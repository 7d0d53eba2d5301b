package records

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// Notice reports something that happened to an email outside its delivery attempts, such as an open or a
// complaint.
type Notice struct {
	AccountID, EmailID string
	Type               event.Type
	// Fill adds the event-specific fields. The common fields are already set, including Recipient if the
	// email has exactly one. May be nil.
	Fill func(*event.Email)
}

// announceSQL locks emails in id order, as every multi-email update does, and returns the part of the payload
// that all facts of an email share.
const announceSQL = `
WITH told AS (
	SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) AS v (id, account_id, last_event)
), locked AS (
	SELECT e.id, t.last_event FROM emails e JOIN told t ON t.id = e.id AND t.account_id = e.account_id ORDER BY e.id FOR UPDATE OF e
)
UPDATE emails e SET last_event = l.last_event
FROM locked l WHERE e.id = l.id
RETURNING e.id, e.account_id, e."from", e."to", coalesce(e.cc, '[]'), e.subject, e.status, coalesce(e.tags, '[]'), e.created_at,
	coalesce((SELECT min(r.address) FROM recipients r WHERE r.email_id = e.id HAVING count(*) = 1), '')`

// Announce publishes a fact for each notice as part of tx, and sets last_event of each email to its latest
// notice by time, whatever the type. Notices of emails that the account does not have are skipped; known
// counts the others. The caller wakes the bus after the commit.
func (s *Service) Announce(ctx context.Context, tx db.Execer, notices ...Notice) (known int, err error) {
	if len(notices) == 0 {
		return 0, nil
	}
	found, err := storeNotices(ctx, tx, notices)
	if err != nil {
		return 0, fmt.Errorf("announce: %w", err)
	}
	now := clock.Now().UTC()
	facts := make([]event.Fact, 0, len(notices))
	for _, n := range notices {
		data, ok := found[subject{n.AccountID, n.EmailID}]
		if !ok {
			continue
		}
		if n.Fill != nil {
			n.Fill(&data)
		}
		facts = append(facts, event.New(n.AccountID, n.Type, now, data))
	}
	if err := s.bus.Publish(ctx, tx, facts...); err != nil {
		return 0, fmt.Errorf("announce: %w", err)
	}
	return len(facts), nil
}

type subject struct{ accountID, emailID string }

// storeNotices updates the emails of the notices and returns the payloads of those that exist.
func storeNotices(ctx context.Context, tx db.Execer, notices []Notice) (map[subject]event.Email, error) {
	last := make(map[subject]event.Type, len(notices))
	for _, n := range notices {
		last[subject{n.AccountID, n.EmailID}] = n.Type
	}
	var emailIDs, accountIDs, types []string
	for of, t := range last {
		emailIDs, accountIDs, types = append(emailIDs, of.emailID), append(accountIDs, of.accountID),
			append(types, string(t))
	}
	type row struct {
		accountID string
		event.Email
	}
	list, err := db.All(ctx, tx, func(r *row) []any {
		return []any{&r.EmailID, &r.accountID, &r.From, db.ScanJSON(&r.To), db.ScanJSON(&r.CC), &r.Subject,
			&r.EmailStatus, db.ScanJSON(&r.Tags), &r.CreatedAt.Time, &r.Recipient}
	}, announceSQL, db.Array(emailIDs), db.Array(accountIDs), db.Array(types))
	if err != nil {
		return nil, err
	}
	found := make(map[subject]event.Email, len(list))
	for _, r := range list {
		r.CreatedAt = event.NewTime(r.CreatedAt.Time)
		found[subject{r.accountID, r.EmailID}] = r.Email
	}
	return found, nil
}
