package suppression

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/categoryoptout"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// OptOutFilter narrows a list of opt-outs. Empty fields match everything.
type OptOutFilter struct {
	page.Request

	Email    string // only this address
	Category string // only this category: its key, or a label
}

const (
	optOutColumns = `id, account_id, address_hash, email, category, category_label, source, email_id, created_at`

	putOptOutSQL = `
INSERT INTO category_opt_outs (id, account_id, address_hash, email, category, category_label, source, email_id, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, NULLIF($8, ''), now())
ON CONFLICT (account_id, address_hash, category) DO NOTHING
RETURNING ` + optOutColumns
)

// putOptOut opts an address out of a category. It returns nil if the address was already opted out.
func (s *Service) putOptOut(ctx context.Context, tx db.Execer, u Unsubscribe,
	source string) (*ent.CategoryOptOut, error) {
	if err := s.renew(ctx, tx, u.AccountID, []entry{{email: u.Email}}); err != nil {
		return nil, err
	}
	made, err := db.One(ctx, tx, func(r *ent.CategoryOptOut) []any {
		return []any{&r.ID, &r.AccountID, &r.AddressHash, &r.Email, &r.Category, &r.CategoryLabel, &r.Source,
			&r.EmailID, &r.CreatedAt}
	}, putOptOutSQL, id.New(id.OptOut), u.AccountID, s.hashes.newHash(u.Email), canonicalAddress(u.Email),
		CategoryKey(u.Category), u.Category, source, u.EmailID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("opt out: %w", err)
	}
	return &made, nil
}

// OptOut returns one opt-out.
func (s *Service) OptOut(ctx context.Context, accountID, optOutID string) (*ent.CategoryOptOut, error) {
	if !id.Is(id.OptOut, optOutID) {
		return nil, fault.NoSuch("category opt-out", optOutID)
	}
	found, err := s.db.Ent.CategoryOptOut.Query().
		Where(categoryoptout.AccountID(accountID), categoryoptout.ID(optOutID)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("category opt-out", optOutID)
	case err != nil:
		return nil, fmt.Errorf("get category opt-out: %w", err)
	}
	return found, nil
}

// OptOuts returns one page of the account's opt-outs, newest first. Error: Invalid.
func (s *Service) OptOuts(ctx context.Context, accountID string,
	f OptOutFilter) (page.Page[*ent.CategoryOptOut], error) {
	query, err := s.matchingOptOuts(accountID, f)
	if err != nil {
		return page.Page[*ent.CategoryOptOut]{}, err
	}
	return page.ReadNewest(ctx, s.cursors, page.List{Name: "category opt-outs", AccountID: accountID},
		f.Request.OrDefault(), query,
		func(found *ent.CategoryOptOut) string { return found.ID })
}

// CountOptOuts returns the number of opt-outs that match a filter, up to the limit most.
func (s *Service) CountOptOuts(ctx context.Context, accountID string, f OptOutFilter, most int) (int, error) {
	query, err := s.matchingOptOuts(accountID, f)
	if err != nil {
		return 0, err
	}
	found, err := query.Limit(most).IDs(ctx)
	return len(found), err
}

func (s *Service) matchingOptOuts(accountID string, f OptOutFilter) (*ent.CategoryOptOutQuery, error) {
	query := s.db.Ent.CategoryOptOut.Query().Where(categoryoptout.AccountID(accountID))
	wrong := fault.Fields{}
	if f.Email != "" {
		spec, err := parseAddress(f.Email)
		if err != nil {
			wrong.Add("email", "%s", err)
		}
		query.Where(categoryoptout.AddressHashIn(s.hashes.allHashes(spec)...))
	}
	if f.Category != "" {
		if err := ValidateCategory(f.Category); err != nil {
			wrong.Add("category", "%s", err)
		}
		query.Where(categoryoptout.Category(CategoryKey(f.Category)))
	}
	return query, wrong.Err()
}

// RemoveOptOut removes an opt-out, so that mail of the category may be sent to the address again.
func (s *Service) RemoveOptOut(ctx context.Context, accountID, optOutID string) error {
	if !id.Is(id.OptOut, optOutID) {
		return fault.NoSuch("category opt-out", optOutID)
	}
	n, err := db.Exec(ctx, s.db.SQL, `DELETE FROM category_opt_outs WHERE account_id = $1 AND id = $2`, accountID, optOutID)
	switch {
	case err != nil:
		return fmt.Errorf("remove category opt-out: %w", err)
	case n == 0:
		return fault.NoSuch("category opt-out", optOutID)
	}
	return nil
}
