package accounts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/apikey"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/runtime/base/fault"
)

// bounds are what limits a key, and what it makes.
type bounds struct {
	domainIDs []string // empty is all
	expiresAt *time.Time
}

// check is pure: a key makes no key that may more than itself, or longer. owned
// are those of the named domains that the account has.
func (b bounds) check(in NewKey, owned []string) fault.Fields {
	wrong := fault.Fields{}
	for i, domainID := range in.DomainIDs {
		switch {
		case !slices.Contains(owned, domainID):
			wrong.Add(fmt.Sprintf("domain_ids[%d]", i), "is not a domain of this account")
		case len(b.domainIDs) > 0 && !slices.Contains(b.domainIDs, domainID):
			wrong.Add(fmt.Sprintf("domain_ids[%d]", i), "is not a domain that the key making this request may send from")
		}
	}
	if len(b.domainIDs) > 0 && len(in.DomainIDs) == 0 {
		wrong.Add("domain_ids", "is required: the key making this request may send from some domains only")
	}
	if b.expiresAt != nil && (in.ExpiresAt == nil || in.ExpiresAt.After(*b.expiresAt)) {
		wrong.Add("expires_at", "must be at or before %s, when the key making this request expires", b.expiresAt.UTC().Format(time.RFC3339))
	}
	return wrong
}

// checkBounds asks what the new key's domains and its maker's bounds are, and returns the key that makes it.
func (in NewKey) checkBounds(ctx context.Context, tx *ent.Tx) (maker *ent.APIKey, err error) {
	var b bounds
	if in.MadeBy != "" {
		maker, err = tx.APIKey.Query().Where(apikey.ID(in.MadeBy), apikey.AccountID(in.AccountID), apikey.RevokedAtIsNil()).Only(ctx)
		switch {
		case ent.IsNotFound(err):
			return nil, fault.Unauthenticated() // revoked a moment ago
		case err != nil:
			return nil, err
		}
		b = bounds{domainIDs: maker.DomainIds, expiresAt: maker.ExpiresAt}
	}
	var owned []string
	if len(in.DomainIDs) > 0 {
		if owned, err = tx.Domain.Query().Where(domain.AccountID(in.AccountID), domain.IDIn(in.DomainIDs...)).IDs(ctx); err != nil {
			return nil, err
		}
	}
	return maker, b.check(in, owned).Err()
}
