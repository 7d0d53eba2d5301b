package suppression

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/predicate"
	entsuppression "github.com/postrider/postrider/ent/suppression"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Filter narrows a list of suppressions. Empty fields match everything.
type Filter struct {
	page.Request

	Email        string     // only this address
	Reason       string     // only this reason
	Since, Until *time.Time // added at or after Since, and before Until
	Q            string     // parts of an address, an id, and fields (textFields)

	ID string // set from Q
}

// Get returns the suppression with an id or for an address.
func (s *Service) Get(ctx context.Context, accountID, idOrAddress string) (*ent.Suppression, error) {
	is, err := s.matchName(idOrAddress)
	if err != nil {
		return nil, err
	}
	found, err := s.db.Ent.Suppression.Query().Where(entsuppression.AccountID(accountID), is).First(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, notFound(idOrAddress)
	case err != nil:
		return nil, fmt.Errorf("get suppression: %w", err)
	}
	return found, nil
}

// FindByAddress returns the suppressions of addresses of the account, keyed by the address as passed.
func (s *Service) FindByAddress(ctx context.Context, accountID string,
	addresses ...string) (map[string]*ent.Suppression, error) {
	of := map[string][]string{}
	var hashes [][]byte
	for _, address := range addresses {
		for _, hash := range s.hashes.allHashes(address) {
			of[string(hash)] = append(of[string(hash)], address)
			hashes = append(hashes, hash)
		}
	}
	found, err := s.db.Ent.Suppression.Query().
		Where(entsuppression.AccountID(accountID), entsuppression.AddressHashIn(hashes...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("suppressions of addresses: %w", err)
	}
	out := make(map[string]*ent.Suppression, len(found))
	for _, row := range found {
		for _, address := range of[string(row.AddressHash)] {
			out[address] = row
		}
	}
	return out, nil
}

// matchName returns the condition for an id, or for an address, which contains an @.
func (s *Service) matchName(idOrAddress string) (predicate.Suppression, error) {
	if id.Is(id.Suppression, idOrAddress) {
		return entsuppression.ID(idOrAddress), nil
	}
	spec, err := parseAddress(idOrAddress)
	if err != nil {
		return nil, notFound(idOrAddress)
	}
	return entsuppression.AddressHashIn(s.hashes.allHashes(spec)...), nil
}

func notFound(idOrAddress string) error { return fault.NoSuch("suppression", idOrAddress) }

// List returns one page of the account's suppressions, newest first. Error: Invalid.
func (s *Service) List(ctx context.Context, accountID string, f Filter) (page.Page[*ent.Suppression], error) {
	words, query, err := s.readFilter(accountID, &f)
	if err != nil {
		return page.Page[*ent.Suppression]{}, err
	}
	list, idOf := page.List{Name: "suppressions", AccountID: accountID}, func(found *ent.Suppression) string { return found.ID }
	if len(words) == 0 {
		return page.ReadNewest(ctx, s.cursors, list, f.Request.OrDefault(), query, idOf)
	}
	return page.Read(s.cursors, list, f.Request.OrDefault(), func(at page.Position) ([]*ent.Suppression, error) {
		found, err := s.find(ctx, accountID, f, words, at, at.Rows())
		if err != nil {
			return nil, err
		}
		return query.Where(entsuppression.IDIn(found...)).Order(at.Order(entsuppression.FieldID)).All(ctx)
	}, idOf)
}

// Count returns the number of suppressions that match a filter, up to the limit most.
func (s *Service) Count(ctx context.Context, accountID string, f Filter, most int) (int, error) {
	words, query, err := s.readFilter(accountID, &f)
	if err != nil {
		return 0, err
	}
	if len(words) > 0 {
		found, err := s.find(ctx, accountID, f, words, page.Position{}, most)
		return len(found), err
	}
	found, err := query.Limit(most).IDs(ctx)
	return len(found), err
}

func (s *Service) readFilter(accountID string, f *Filter) ([]string, *ent.SuppressionQuery, error) {
	words, err := f.readText()
	if err != nil {
		return nil, nil, err
	}
	query, err := s.filteredQuery(accountID, *f)
	return words, query, err
}

func (s *Service) filteredQuery(accountID string, f Filter) (*ent.SuppressionQuery, error) {
	query := s.db.Ent.Suppression.Query().Where(entsuppression.AccountID(accountID))
	wrong := fault.Fields{}
	if f.ID != "" {
		query.Where(entsuppression.ID(f.ID))
	}
	if f.Email != "" {
		spec, err := parseAddress(f.Email)
		if err != nil {
			wrong.Add("email", "%s", err)
		}
		query.Where(entsuppression.AddressHashIn(s.hashes.allHashes(spec)...))
	}
	if f.Reason != "" {
		if entsuppression.ReasonValidator(entsuppression.Reason(f.Reason)) != nil {
			wrong.Add("reason", "must be bounce, failure, complaint, unsubscribe or manual")
		}
		query.Where(entsuppression.ReasonEQ(entsuppression.Reason(f.Reason)))
	}
	if f.Since != nil && f.Until != nil && !f.Since.Before(*f.Until) {
		wrong.Add("since", "must be before the end")
	}
	if f.Since != nil { // the time in an id is accurate to the duration of a transaction
		query.Where(entsuppression.CreatedAtGTE(*f.Since),
			entsuppression.IDGTE(id.Since(id.Suppression, f.Since.Add(-time.Minute))))
	}
	if f.Until != nil {
		query.Where(entsuppression.CreatedAtLT(*f.Until),
			entsuppression.IDLT(id.Since(id.Suppression, f.Until.Add(time.Minute))))
	}
	return query, wrong.Err()
}
