package suppression

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

const (
	removeSQL = `DELETE FROM suppressions WHERE account_id = $1 AND id = $2 RETURNING ` + suppressionColumns

	removeAddressSQL = `DELETE FROM suppressions WHERE account_id = $1 AND address_hash = ANY($2::bytea[]) RETURNING ` + suppressionColumns

	eraseSQL = `UPDATE suppressions SET email = NULL, email_id = NULL
WHERE account_id = $1 AND address_hash = ANY($2::bytea[]) AND (email IS NOT NULL OR email_id IS NOT NULL)`

	eraseOptOutsSQL = `UPDATE category_opt_outs SET email = NULL, email_id = NULL
WHERE account_id = $1 AND address_hash = ANY($2::bytea[]) AND (email IS NOT NULL OR email_id IS NOT NULL)`
)

// Remove removes an address from the list, by id or address. Opt-outs from categories stay.
func (s *Service) Remove(ctx context.Context, accountID, idOrAddress string) error {
	query, arg := removeSQL, any(idOrAddress)
	if !id.Is(id.Suppression, idOrAddress) {
		spec, err := parseAddress(idOrAddress)
		if err != nil {
			return notFound(idOrAddress)
		}
		query, arg = removeAddressSQL, db.Array(s.hashes.all(spec))
	}
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		rows, err := db.All(ctx, tx, scanSuppression, query, accountID, arg)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return notFound(idOrAddress)
		}
		facts := make([]event.Fact, len(rows))
		for i, row := range rows {
			facts[i] = event.New(accountID, event.SuppressionRemoved, clock.Now(), payload(row))
		}
		return s.bus.Publish(ctx, tx, facts...)
	})
	if err != nil {
		return fmt.Errorf("remove suppression: %w", err)
	}
	s.bus.Wake()
	return nil
}

// Erase erases an address that continues to be blocked: its rows keep the hash, but lose the address and the
// email. It returns the number of rows. An invalid address matches no rows.
func (s *Service) Erase(ctx context.Context, accountID, email string) (int, error) {
	spec, err := parseAddress(email)
	if err != nil {
		return 0, nil //nolint:nilerr // nothing is stored for an invalid address
	}
	erased := 0
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		// Rehashed under the first key, so that the rows outlive the older keys.
		if err := s.renew(ctx, tx, accountID, []entry{{email: spec}}); err != nil {
			return err
		}
		for _, query := range []string{eraseSQL, eraseOptOutsSQL} {
			n, err := db.Exec(ctx, tx, query, accountID, db.Array(s.hashes.all(spec)))
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
