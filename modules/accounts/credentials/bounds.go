package credentials

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/apikey"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/runtime/base/fault"
)

// FindBounds returns what limits a new key or SMTP credential: the API key that makes the request, nil if keyID
// is empty, and those of the requested domains that belong to the account. Error: Unauthorized if the key has
// just been revoked.
func FindBounds(ctx context.Context, tx *ent.Tx, accountID, keyID string,
	domainIDs []string) (maker *ent.APIKey, owned []string, err error) {
	if keyID != "" {
		maker, err = tx.APIKey.Query().
			Where(apikey.ID(keyID), apikey.AccountID(accountID), apikey.RevokedAtIsNil()).Only(ctx)
		switch {
		case ent.IsNotFound(err):
			return nil, nil, fault.Unauthenticated()
		case err != nil:
			return nil, nil, err
		}
	}
	if len(domainIDs) > 0 {
		owned, err = tx.Domain.Query().Where(domain.AccountID(accountID), domain.IDIn(domainIDs...)).IDs(ctx)
	}
	return maker, owned, err
}
