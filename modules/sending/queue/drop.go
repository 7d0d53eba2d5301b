package queue

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// dropped is a recipient that was removed from the queue.
type dropped struct {
	id      int64
	emailID string
	address string
}

// dropping is an email whose recipients are being dropped.
type dropping struct {
	event.Email

	accountID string
	counts    lifecycle.RecipientCounts
}

// dropRecipients settles those of the recipients that are not settled yet. It locks recipients before emails, and
// emails in id order, as every multi-email update does.
func (s *Service) dropRecipients(ctx context.Context, tx *sql.Tx, all []found,
	reason string) (changed []int64, facts []event.Fact, err error) {
	numbered, ids := stepArgs(all)
	gone, err := db.All(ctx, tx, func(d *dropped) []any { return []any{&d.id, &d.emailID, &d.address} }, dropSQL,
		numbered, ids, reason)
	if err != nil || len(gone) == 0 {
		return nil, nil, err
	}
	emails, err := lockDropping(ctx, tx, gone)
	if err != nil {
		return nil, nil, err
	}
	now := clock.Now().UTC()
	for _, d := range gone {
		changed = append(changed, d.id)
		e, known := emails[d.emailID]
		if !known {
			continue
		}
		data := e.Email
		data.Recipient, data.Failure = d.address, &event.Failure{Reason: reason, Code: CodeDropped}
		facts = append(facts, event.New(e.accountID, event.EmailFailed, now, data))
	}
	if err := storeDropping(ctx, tx, emails); err != nil {
		return nil, nil, fmt.Errorf("store email states: %w", err)
	}
	if err := s.bus.Publish(ctx, tx, facts...); err != nil {
		return nil, nil, fmt.Errorf("publish facts: %w", err)
	}
	return changed, facts, nil
}

const tallySQL = `SELECT r.email_id, r.state, count(*) FROM unnest($1::text[]) AS e (id) JOIN recipients r ON r.email_id = e.id GROUP BY 1, 2`

const lockDroppingSQL = `
SELECT id, account_id, "from", "to", coalesce(cc, '[]'), subject, status, coalesce(tags, '[]'), created_at
FROM emails WHERE id = ANY($1) ORDER BY id FOR UPDATE`

// lockDropping locks the emails and returns them with the status that follows from the current states of
// their recipients.
func lockDropping(ctx context.Context, tx *sql.Tx, gone []dropped) (map[string]*dropping, error) {
	found := map[string]*dropping{}
	for _, d := range gone {
		found[d.emailID] = nil
	}
	ids := db.Array(slices.Sorted(maps.Keys(found)))
	list, err := db.All(ctx, tx, func(e *dropping) []any {
		return []any{&e.EmailID, &e.accountID, &e.From, db.ScanJSON(&e.To), db.ScanJSON(&e.CC), &e.Subject, &e.Status,
			db.ScanJSON(&e.Tags), &e.CreatedAt.Time}
	}, lockDroppingSQL, ids)
	if err != nil {
		return nil, fmt.Errorf("lock emails: %w", err)
	}
	clear(found)
	for i := range list {
		e := &list[i]
		e.CreatedAt, e.counts = event.NewTime(e.CreatedAt.Time), lifecycle.RecipientCounts{}
		found[e.EmailID] = e
	}
	type count struct {
		id    string
		state recipient.State
		n     int
	}
	counts, err := db.All(ctx, tx, func(c *count) []any { return []any{&c.id, &c.state, &c.n} }, tallySQL, ids)
	if err != nil {
		return nil, fmt.Errorf("count recipients: %w", err)
	}
	for _, c := range counts {
		if e := found[c.id]; e != nil {
			e.counts[c.state] = c.n
		}
	}
	for _, e := range found {
		if next := e.counts.OverallStatus(); lifecycle.MayBecome(email.Status(e.Status), next) {
			e.Status = string(next)
		}
	}
	return found, nil
}

const storeDroppingSQL = `
UPDATE emails e SET status = v.status, uncommon = NULLIF(v.uncommon, ''), last_event = v.last_event
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS v (id, status, uncommon, last_event)
WHERE e.id = v.id`

func storeDropping(ctx context.Context, tx *sql.Tx, emails map[string]*dropping) error {
	var ids, statuses, uncommon, lastEvents []string
	for _, e := range emails {
		ids, statuses, uncommon = append(ids, e.EmailID), append(statuses, e.Status), append(uncommon,
			lifecycle.UncommonValue(email.Status(e.Status)))
		lastEvents = append(lastEvents, string(event.EmailFailed))
	}
	_, err := tx.ExecContext(ctx, storeDroppingSQL, db.Array(ids), db.Array(statuses), db.Array(uncommon),
		db.Array(lastEvents))
	return err
}
