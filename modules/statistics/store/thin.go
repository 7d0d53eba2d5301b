package store

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Limit is the maximum number of rows of a kind per day.
type Limit struct {
	Keep int // the largest rows, which stay if there are too many
	Most int
}

// limits are the limits of the counted kinds.
var limits = map[rollup.RowKind]Limit{
	rollup.Domain: {200, 400}, rollup.Tag: {200, 400},
	rollup.SenderDomain: {500, 1000}, rollup.SenderTag: {500, 1000},
}

// alone maps kinds for any sender to the kinds of the same keys by sender.
var alone = map[rollup.RowKind]rollup.RowKind{rollup.Domain: rollup.SenderDomain, rollup.Tag: rollup.SenderTag}

// thinner evicts new and stored rows on days that have too many.
type thinner struct {
	tx       db.Execer
	table    string
	rollup   *rollup.Rollup
	accounts map[rollup.RowKey]*dayRow // the accounts' own rows of the days
}

func (t *thinner) run(ctx context.Context) error {
	rows, err := load(ctx, t.tx, t.table,
		sortRows(t.rollup.Rows, func(row rollup.RowKey) bool { return row.Kind == rollup.Account }))
	if err != nil {
		return err
	}
	for _, row := range rows {
		t.accounts[row.RowKey] = row
	}
	for at, kind := range counted {
		added := map[rollup.RowKey][]rollup.RowKey{}
		for row := range t.rollup.Rows {
			if row.Kind == kind {
				added[accountRow(row)] = append(added[accountRow(row)], row)
			}
		}
		for account, rows := range added {
			if t.accounts[account].counts[at]+len(rows) > limits[kind].Most {
				if err := t.thin(ctx, t.accounts[account], kind, rows); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// candidate is a row of a day that may stay.
type candidate struct {
	rollup.RowKey
	size   int64
	stored bool
	draw   uint64 // random, to break ties
}

const candidatesSQL = `SELECT key, domain_id, api_key_id, template_id, automation_id, event_size + email_size FROM %s WHERE account_id = $1 AND kind = $2 AND start = $3`

// thin decides which rows of a kind stay on a day.
func (t *thinner) thin(ctx context.Context, account *dayRow, kind rollup.RowKind, added []rollup.RowKey) error {
	stored, err := db.All(ctx, t.tx, func(c *candidate) []any {
		return []any{&c.Key, &c.DomainID, &c.APIKeyID, &c.TemplateID, &c.AutomationID, &c.size}
	}, fmt.Sprintf(candidatesSQL, t.table), account.AccountID, int(kind), account.Day.Start())
	if err != nil {
		return fmt.Errorf("read which rows a day has: %w", err)
	}
	known := make(map[rollup.RowKey]int, len(stored)+len(added))
	for i := range stored {
		c := &stored[i]
		c.AccountID, c.Kind, c.Day, c.stored = account.AccountID, kind, account.Day, true
		known[c.RowKey] = i
	}
	all := stored
	for _, row := range added {
		series := t.rollup.Rows[row]
		size := sizeOf(&series[rollup.ByEvent]) + sizeOf(&series[rollup.ByEmail])
		if i, is := known[row]; is {
			all[i].size += size
		} else {
			all = append(all, candidate{RowKey: row, size: size})
		}
	}
	account.counts[slices.Index(counted, kind)] = len(stored)
	if len(all) <= limits[kind].Most {
		return nil
	}
	return t.evict(ctx, account, kind, selectEvicted(all, limits[kind].Keep))
}

// selectEvicted returns the rows to evict: all except the largest ones and half as many of the others.
func selectEvicted(all []candidate, keep int) []candidate {
	seed := maphash.MakeSeed()
	for i := range all {
		all[i].draw = maphash.Comparable(seed, all[i].RowKey)
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.size, a.size),
			cmp.Compare(a.draw, b.draw))
	})
	return all[min(len(all), keep+keep/2):]
}

// evict evicts rows.
func (t *thinner) evict(ctx context.Context, account *dayRow, kind rollup.RowKind, gone []candidate) error {
	var stored []rollup.RowKey
	for _, c := range gone {
		delete(t.rollup.Rows, c.RowKey)
		if c.stored {
			stored = append(stored, c.RowKey)
		}
	}
	bySender, isAlone := alone[kind]
	if !isAlone {
		return t.remove(ctx, account, kind, stored)
	}
	keys := make(map[string]bool, len(gone))
	for _, c := range gone {
		keys[c.Key] = true
	}
	for row := range t.rollup.Rows {
		if row.Kind == bySender && row.AccountID == account.AccountID && row.Day == account.Day && keys[row.Key] {
			delete(t.rollup.Rows, row)
		}
	}
	if err := t.remove(ctx, account, kind, stored); err != nil || len(stored) == 0 {
		return err
	}
	names := make([]string, len(stored))
	for i, row := range stored {
		names[i] = row.Key
	}
	n, err := db.Exec(ctx, t.tx, `DELETE FROM `+t.table+
		` WHERE account_id = $1 AND kind = $2 AND start = $3 AND key = ANY($4)`, account.AccountID, int(bySender), account.Day.Start(), db.Array(names))
	if err != nil {
		return fmt.Errorf("delete rows of a day: %w", err)
	}
	at := slices.Index(counted, bySender)
	account.counts[at] = max(0, account.counts[at]-n)
	return nil
}

// remove deletes stored rows.
func (t *thinner) remove(ctx context.Context, account *dayRow, kind rollup.RowKind, rows []rollup.RowKey) error {
	if len(rows) == 0 {
		return nil
	}
	n, err := deleteDays(ctx, t.tx, t.table, rows)
	if err != nil {
		return err
	}
	account.counts[slices.Index(counted, kind)] -= n
	return nil
}

// deleteDays deletes day rows by their keys.
func deleteDays(ctx context.Context, tx db.Execer, table string, rows []rollup.RowKey) (int, error) {
	statement := db.Compile(`DELETE FROM ` + table + ` d USING ` + keyRows.Source() + ` WHERE d.account_id = k.account_id AND d.kind = k.kind::smallint AND d.start = k.start::timestamptz AND d.key = k.key
	AND d.domain_id = k.domain_id AND d.api_key_id = k.api_key_id AND d.template_id = k.template_id AND d.automation_id = k.automation_id`)
	n, err := db.Exec(ctx, tx, statement.Text, statement.Args(keyRows.Rows(rows))...)
	if err != nil {
		return 0, fmt.Errorf("delete day rows: %w", err)
	}
	return n, nil
}
