package sending

import (
	"context"
	"errors"
	"fmt"

	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// What most messages need is one statement: nobody is suppressed, no cap counts,
// no idempotency key was given, no file is attached, no guard is to be asked. Between this process and the
// database a commit of five round trips costs several times what its rows do, so
// that case has a statement that looks for suppressed recipients and, if there are
// none, stores everything. If there are some it stores nothing, and the transaction
// of flushAccepts has its turn.
func storeOnceSQL(suppressed Suppression) *db.Statement {
	return db.Compile(`WITH blocked AS MATERIALIZED (` + suppressed.BlockingSQL() + `),
stored AS (` + emailRows.Insert("emails") + ` WHERE ` + nobodyBlocked + `),
addressed AS (` + addressedRows.Insert("recipients") + ` WHERE ` + nobodyBlocked + `),
` + bus.PublishSQL(nobodyBlocked, nobodyBlocked) + `
SELECT count(*) FROM blocked`)
}

const nobodyBlocked = `NOT EXISTS (SELECT FROM blocked)`

// storeOnce stores the submissions with one statement if that is all they need.
func (w *writer) storeOnce(ctx context.Context, batch []*submission) (stored bool, err error) {
	for _, sub := range batch {
		simple, err := w.simple(ctx, sub)
		if err != nil || !simple {
			return false, err
		}
	}
	items := begin(batch)
	facts := make([]event.Fact, 0, len(items))
	for _, a := range items {
		facts = append(facts, a.fact)
	}
	published, err := w.bus.PublishArgs(facts...)
	if err != nil {
		return false, err
	}
	args := append(insertArgs(items), w.suppression.BlockingArg(addressees(items)))
	blocked, err := db.All(ctx, w.db.Prepared, db.Value[int], w.storeOnceSQL.Text, w.storeOnceSQL.Args(append(args, published...)...)...)
	if err == nil && len(blocked) != 1 {
		err = errors.New("the statement did not end")
	}
	if err != nil {
		return false, fmt.Errorf("insert emails: %w", err)
	}
	return blocked[0] == 0, nil
}

// simple tells whether a submission needs no more than its rows.
func (w *writer) simple(ctx context.Context, sub *submission) (bool, error) {
	if sub.claim != nil || len(sub.items) == 0 {
		return false, nil
	}
	for _, a := range sub.items {
		if len(a.files) > 0 || a.guard != nil {
			return false, nil
		}
	}
	capped, err := w.quota.Capped(ctx, sub.items[0].email.accountID) // one caller, one account
	return !capped, err
}

func addressees(items []*acceptance) (list []suppression.Address) {
	for _, a := range items {
		for _, r := range a.recipients {
			list = append(list, suppression.Address{AccountID: a.email.accountID, Email: r.address, Category: a.email.category})
		}
	}
	return list
}
