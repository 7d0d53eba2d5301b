package sending

import (
	"context"
	"errors"
	"fmt"

	"github.com/postrider/postrider/modules/sending/handover"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// Most messages have no suppressed recipient, no cap, no idempotency key, no file and no guard. For them,
// five round trips between this process and the database cost several times more than the rows. One statement
// therefore checks for suppressed recipients and stores everything if there are none. Otherwise it stores
// nothing, and flushAccepts uses its transaction.
func storeOnceSQL(suppressed Suppression) *db.Statement {
	return db.Compile(`WITH blocked AS MATERIALIZED (` + suppressed.BlockingSQL() + `),
stored AS (` + emailRows.Insert("emails") + ` WHERE ` + nobodyBlocked + `),
addressed AS (` + addressedRows.Insert("recipients") + ` WHERE ` + nobodyBlocked + ` RETURNING ` +
		handover.StoredColumns + `),
opened AS (` + handover.OpenSQL("addressed") + `),
found AS (` + handover.FoundSQL("addressed") + `),
` + bus.PublishSQL(nobodyBlocked, nobodyBlocked) + `
SELECT (SELECT count(*) FROM blocked), coalesce(id, 0), coalesce(email_id, ''), coalesce(address, ''), coalesce(due, 0)
FROM (VALUES (1)) AS one LEFT JOIN found AS found (id, email_id, address, due) ON true`)
}

const nobodyBlocked = `NOT EXISTS (SELECT FROM blocked)`

// storeOnce stores the submissions with one statement if they are all simple. It returns the recipients that were
// stored as claimed.
func (w *writer) storeOnce(ctx context.Context, batch []*submission) (claimed []handover.Stored, stored bool,
	err error) {
	for _, sub := range batch {
		simple, err := w.isSimple(ctx, sub)
		if err != nil || !simple {
			return nil, false, err
		}
	}
	items := beginItems(batch)
	facts := make([]event.Fact, 0, len(items))
	for _, a := range items {
		facts = append(facts, a.fact)
	}
	published, err := w.bus.PublishArgs(facts...)
	if err != nil {
		return nil, false, err
	}
	args := append(insertArgs(items), w.suppression.BlockingArg(addressesOf(items)))
	var blocked int
	values := w.storeOnceSQL.Args(append(args, published...)...)
	err = w.db.RunSized(ctx, values, func(on db.Execer) (err error) {
		claimed, err = db.All(ctx, on, func(s *handover.Stored) []any {
			return append([]any{&blocked}, handover.ScanStored(s)...)
		}, w.storeOnceSQL.Text, values...)
		return err
	})
	if err == nil && len(claimed) == 0 {
		err = errors.New("the statement returned no row")
	}
	if err != nil {
		return nil, false, fmt.Errorf("insert emails: %w", err)
	}
	if claimed[0].ID == 0 {
		claimed = nil
	}
	return claimed, blocked == 0, nil
}

// isSimple reports whether storing a submission takes only its rows.
func (w *writer) isSimple(ctx context.Context, sub *submission) (bool, error) {
	if sub.claim != nil || len(sub.items) == 0 {
		return false, nil
	}
	for _, a := range sub.items {
		if len(a.files) > 0 || a.guard != nil {
			return false, nil
		}
	}
	capped, err := w.quota.IsCapped(ctx, sub.items[0].email.accountID) // one caller, one account
	return !capped, err
}

func addressesOf(items []*acceptance) (list []suppression.MessageRecipient) {
	for _, a := range items {
		for _, r := range a.recipients {
			list = append(list, suppression.MessageRecipient{AccountID: a.email.accountID, Email: r.address,
				Category: a.email.category})
		}
	}
	return list
}
