package addressrules

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/addressruleset"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/base/cache"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Domains returns domains of an account.
type Domains interface {
	// Get returns one domain of the account, or NotFound.
	Get(ctx context.Context, accountID, domainID string) (*ent.Domain, error)
}

// Book stores the rules of domains. It is safe for concurrent use.
type Book struct {
	db      *db.DB
	domains Domains
	known   *cache.Cache[accountDomain, Rules]
}

// accountDomain identifies one account's use of a domain.
type accountDomain struct{ accountID, domainID string }

const (
	knownFor      = 5 * time.Second // how long another process may use outdated rules
	lookupTimeout = 5 * time.Second
)

// NewBook returns a new book.
func NewBook(d *db.DB, domains Domains) *Book {
	return &Book{db: d, domains: domains,
		known: cache.New(cache.Config[accountDomain, Rules]{Max: 20_000, TTL: knownFor, LoadTimeout: lookupTimeout})}
}

// Get returns the rules of a domain of the account. It returns NotFound if the account does not have the
// domain.
func (b *Book) Get(ctx context.Context, accountID, domainID string) (Rules, error) {
	if _, err := b.domains.Get(ctx, accountID, domainID); err != nil {
		return Rules{}, err
	}
	return b.read(ctx, accountDomain{accountID, domainID})
}

const putSQL = `
INSERT INTO address_rule_sets (account_id, domain_id, rules, catch_all) VALUES ($1, $2, $3::jsonb, $4)
ON CONFLICT (domain_id) DO UPDATE SET account_id = excluded.account_id, rules = excluded.rules, catch_all = excluded.catch_all, updated_at = clock_timestamp()`

// Put replaces the rules of a domain. Other processes apply them within 5 seconds. It returns NotFound for an
// unknown domain, or Invalid with all invalid fields.
func (b *Book) Put(ctx context.Context, accountID, domainID string, r Rules) (Rules, error) {
	if _, err := b.domains.Get(ctx, accountID, domainID); err != nil {
		return Rules{}, err
	}
	if err := r.Validate(); err != nil {
		return Rules{}, err
	}
	if r.Rules == nil {
		r.Rules = []shape.AddressRule{}
	}
	text, err := json.Marshal(r.Rules)
	if err != nil {
		return Rules{}, fmt.Errorf("store address rules: %w", err)
	}
	if _, err := b.db.Hot.ExecContext(ctx, putSQL, accountID, domainID, string(text), r.CatchAll); err != nil {
		return Rules{}, fmt.Errorf("store address rules: %w", err)
	}
	b.known.Invalidate(accountDomain{accountID, domainID})
	return r, nil
}

// HasAddress reports whether the address with the local part exists at the domain of the account.
func (b *Book) HasAddress(ctx context.Context, accountID, domainID, local string) (bool, error) {
	rules, err := b.known.Get(ctx, accountDomain{accountID, domainID}, b.read)
	return err == nil && rules.HasAddress(local), err
}

func (b *Book) read(ctx context.Context, of accountDomain) (Rules, error) {
	row, err := b.db.Ent.AddressRuleSet.Query().
		Where(addressruleset.DomainID(of.domainID), addressruleset.AccountID(of.accountID)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return acceptAll, nil
	case err != nil:
		return Rules{}, fmt.Errorf("read address rules: %w", err)
	}
	return Rules{Rules: row.Rules, CatchAll: row.CatchAll}, nil
}
