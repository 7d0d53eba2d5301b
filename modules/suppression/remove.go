package suppression

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/event"
)

// Rows are locked in the order in which put inserts them, so that two batches cannot deadlock.
const (
	removeSQL = `WITH held AS (SELECT id FROM suppressions WHERE account_id = $1 AND id = ANY($2::text[]) ORDER BY address_hash FOR UPDATE)
DELETE FROM suppressions WHERE account_id = $1 AND id IN (SELECT id FROM held) RETURNING ` + suppressionColumns

	removeAddressesSQL = `WITH held AS (SELECT id FROM suppressions WHERE account_id = $1 AND address_hash = ANY($2::bytea[]) ORDER BY address_hash FOR UPDATE)
DELETE FROM suppressions WHERE account_id = $1 AND id IN (SELECT id FROM held) RETURNING ` + suppressionColumns

	eraseSQL = `UPDATE suppressions SET email = NULL, email_id = NULL
WHERE account_id = $1 AND address_hash = ANY($2::bytea[]) AND (email IS NOT NULL OR email_id IS NOT NULL)`

	eraseOptOutsSQL = `UPDATE category_opt_outs SET email = NULL, email_id = NULL
WHERE account_id = $1 AND address_hash = ANY($2::bytea[]) AND (email IS NOT NULL OR email_id IS NOT NULL)`
)

// Remove removes an address from the list, by id or address. Category opt-outs stay.
func (s *Service) Remove(ctx context.Context, accountID, idOrAddress string) error {
	in := RemoveInput{Emails: []string{idOrAddress}}
	if id.Is(id.Suppression, idOrAddress) {
		in = RemoveInput{IDs: []string{idOrAddress}}
	}
	items, err := s.RemoveBatch(ctx, accountID, in)
	if err == nil && items[0].Suppression == nil {
		return notFound(idOrAddress)
	}
	return err
}

// RemoveInput is the input of RemoveBatch: either Emails or IDs.
type RemoveInput struct {
	Emails []string
	IDs    []string
	// Keep is like in NewSuppression.
	Keep func(ctx context.Context, tx idempotency.Execer, items []RemovedItem) error
}

// Validate reports every invalid field. Invalid addresses are not among them; they cause errors for their
// items.
func (in RemoveInput) Validate() error {
	wrong := fault.Fields{}
	for field, list := range map[string][]string{"emails": in.Emails, "ids": in.IDs} {
		if len(list) > MaxBatch {
			wrong.Add(field, "must have at most %d items", MaxBatch)
		}
	}
	switch {
	case len(in.Emails) == 0 && len(in.IDs) == 0:
		wrong.Add("emails", "is required, unless you send ids")
	case len(in.Emails) > 0 && len(in.IDs) > 0:
		wrong.Add("ids", "cannot be combined with emails")
	}
	return wrong.Err()
}

// RemovedItem is the result for one address or id of a batch.
type RemovedItem struct {
	Suppression *ent.Suppression // the row that was removed; nil if there was none, or if Err is set
	Err         error            // Invalid, about the field email
}

// RemoveBatch removes many addresses from the list in one transaction. If two items match the same row, only
// the first removes it.
func (s *Service) RemoveBatch(ctx context.Context, accountID string, in RemoveInput) ([]RemovedItem, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	items, keys, hashes := s.findRemoved(in)
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		query, arg := removeSQL, db.Array(in.IDs)
		if len(in.IDs) == 0 {
			query, arg = removeAddressesSQL, db.Array(hashes)
		}
		rows, err := db.All(ctx, tx, scanSuppression, query, accountID, arg)
		if err != nil {
			return err
		}
		facts := make([]event.Fact, len(rows))
		for i, row := range rows {
			facts[i] = event.New(accountID, event.SuppressionRemoved, clock.Now(), eventPayload(row))
		}
		assignRemoved(items, keys, rows)
		if err := s.bus.Publish(ctx, tx, facts...); err != nil || in.Keep == nil {
			return err
		}
		return in.Keep(ctx, tx, items)
	})
	if err != nil {
		return nil, fmt.Errorf("remove suppressions: %w", err)
	}
	s.bus.Wake()
	return items, nil
}

// findRemoved returns an item for each address or id, the ids and hashes that its row can have, and all hashes.
func (s *Service) findRemoved(in RemoveInput) (items []RemovedItem, keys [][]string, hashes [][]byte) {
	items = make([]RemovedItem, len(in.Emails)+len(in.IDs))
	keys = make([][]string, len(items))
	for i, suppressionID := range in.IDs {
		keys[i] = []string{suppressionID}
	}
	for i, email := range in.Emails {
		spec, err := parseAddress(email)
		if err != nil {
			items[i].Err = fault.InvalidField("email", "%s", err)
			continue
		}
		for _, hash := range s.hashes.allHashes(spec) {
			keys[i], hashes = append(keys[i], string(hash)), append(hashes, hash)
		}
	}
	return items, keys, hashes
}

// assignRemoved assigns each row to the first item that matches it.
func assignRemoved(items []RemovedItem, keys [][]string, rows []*ent.Suppression) {
	found := map[string]*ent.Suppression{}
	for _, row := range rows {
		found[row.ID], found[string(row.AddressHash)] = row, row
	}
	for i := range items {
		for _, key := range keys[i] {
			if row := found[key]; row != nil {
				items[i].Suppression = row
				delete(found, key)
			}
		}
	}
}

// Erase erases an address but keeps blocking it: its rows keep the hash, but lose the address and the email.
// It returns the number of rows. An invalid address matches no rows.
func (s *Service) Erase(ctx context.Context, accountID, email string) (int, error) {
	spec, err := parseAddress(email)
	if err != nil {
		return 0, nil //nolint:nilerr // nothing is stored for an invalid address
	}
	erased := 0
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		// Rehash with the first key, so that the rows remain effective without the older keys.
		if err := s.renew(ctx, tx, accountID, []entry{{email: spec}}); err != nil {
			return err
		}
		for _, query := range []string{eraseSQL, eraseOptOutsSQL} {
			n, err := db.Exec(ctx, tx, query, accountID, db.Array(s.hashes.allHashes(spec)))
			if err != nil {
				return err
			}
			erased += n
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("erase address from suppressions: %w", err)
	}
	return erased, nil
}
