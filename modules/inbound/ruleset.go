package inbound

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/addressruleset"
	"github.com/postrider/postrider/ent/schema/shape"
)

// Rules gives those of a domain of the account. Error: NotFound for the domain.
func (s *Service) Rules(ctx context.Context, accountID, domainID string) (Rules, error) {
	if _, err := s.domains.Get(ctx, accountID, domainID); err != nil {
		return Rules{}, err
	}
	return s.readRules(ctx, accountID, domainID)
}

const putRulesSQL = `
INSERT INTO address_rule_sets (account_id, domain_id, rules, catch_all) VALUES ($1, $2, $3::jsonb, $4)
ON CONFLICT (domain_id) DO UPDATE SET account_id = excluded.account_id, rules = excluded.rules, catch_all = excluded.catch_all, updated_at = clock_timestamp()`

// PutRules replaces those of a domain. Other processes go by them within RulesTTL.
// Errors: NotFound for the domain, Invalid with all wrong fields.
func (s *Service) PutRules(ctx context.Context, accountID, domainID string, r Rules) (Rules, error) {
	if _, err := s.domains.Get(ctx, accountID, domainID); err != nil {
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
		return Rules{}, fmt.Errorf("put address rules: %w", err)
	}
	if _, err := s.db.Hot.ExecContext(ctx, putRulesSQL, accountID, domainID, string(text), r.CatchAll); err != nil {
		return Rules{}, fmt.Errorf("put address rules: %w", err)
	}
	s.rules.Invalidate(owned{accountID, domainID})
	return r, nil
}

// owned is a domain as one account has it: rules do not go along with a domain that
// another account has proved control of.
type owned struct{ accountID, domainID string }

func (s *Service) readRules(ctx context.Context, accountID, domainID string) (Rules, error) {
	row, err := s.db.Ent.AddressRuleSet.Query().Where(addressruleset.DomainID(domainID), addressruleset.AccountID(accountID)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return anything, nil
	case err != nil:
		return Rules{}, fmt.Errorf("read address rules: %w", err)
	}
	return Rules{Rules: row.Rules, CatchAll: row.CatchAll}, nil
}

// knownRules is readRules from memory.
func (s *Service) knownRules(ctx context.Context, of owned) (Rules, error) {
	return s.rules.Get(ctx, of, otter.LoaderFunc[owned, Rules](func(ctx context.Context, of owned) (Rules, error) {
		// Others wait for this answer, so it must not end with the first caller.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTimeout)
		defer cancel()
		return s.readRules(ctx, of.accountID, of.domainID)
	}))
}

const lookupTimeout = 5 * time.Second

func newRules(ttl time.Duration) (*otter.Cache[owned, Rules], error) {
	return otter.New(&otter.Options[owned, Rules]{MaximumSize: 20_000, ExpiryCalculator: otter.ExpiryWriting[owned, Rules](ttl)})
}
