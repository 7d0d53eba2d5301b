package accounts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/credentials"
	"github.com/postrider/postrider/runtime/base/fault"
)

// keyBounds are the limits of a key, and of the keys that it creates.
type keyBounds struct {
	domainIDs []string // empty means all
	expiresAt *time.Time
}

// A key cannot create a key with wider limits or a later expiry than its own. owned are those requested
// domains that belong to the account.
func (b keyBounds) checkKey(in NewKey, owned []string) fault.Fields {
	wrong := fault.Fields{}
	for i, domainID := range in.DomainIDs {
		switch {
		case !slices.Contains(owned, domainID):
			wrong.Add(fmt.Sprintf("domain_ids[%d]", i), "must be a domain of this account")
		case len(b.domainIDs) > 0 && !slices.Contains(b.domainIDs, domainID):
			wrong.Add(fmt.Sprintf("domain_ids[%d]", i),
				"must be a domain that the API key of this request may send from")
		}
	}
	if len(b.domainIDs) > 0 && len(in.DomainIDs) == 0 {
		wrong.Add("domain_ids", "is required, because the API key of this request is limited to some domains")
	}
	if b.expiresAt != nil && (in.ExpiresAt == nil || in.ExpiresAt.After(*b.expiresAt)) {
		wrong.Add("expires_at", "cannot be later than %s, when the API key of this request expires", b.expiresAt.UTC().
			Format(time.RFC3339))
	}
	return wrong
}

// checkBounds checks the new key against the limits of the key that creates it and the account's domains, and
// returns the creating key, if any.
func (in NewKey) checkBounds(ctx context.Context, tx *ent.Tx) (*ent.APIKey, error) {
	maker, owned, err := credentials.FindBounds(ctx, tx, in.AccountID, in.MakerKeyID, in.DomainIDs)
	if err != nil {
		return nil, err
	}
	var b keyBounds
	if maker != nil {
		b = keyBounds{domainIDs: maker.DomainIds, expiresAt: maker.ExpiresAt}
	}
	return maker, b.checkKey(in, owned).Err()
}
