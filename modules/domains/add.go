package domains

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/fault"
)

// AddInput is the input of Add.
type AddInput struct {
	Name           string
	InboundEnabled bool
}

// Add makes a domain with its key. It is pending until its records were seen.
func (s *Service) Add(ctx context.Context, accountID string, in AddInput) (*ent.Domain, error) {
	name, reason := s.reserved.parseName(in.Name)
	if reason != "" {
		return nil, fault.InvalidField("name", "%s", reason)
	}
	account, err := s.accounts.Account(ctx, accountID)
	if err != nil {
		return nil, err
	}
	// Asked before the key is made, which is dear, and again under the lock.
	if err := s.admit(ctx, s.db.Ent.Domain, account, name); err != nil {
		return nil, err
	}
	m, err := s.newMaterial(ctx)
	if err != nil {
		return nil, err
	}
	var made *ent.Domain
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		// One account adds one domain at a time: the plan's limit is a count.
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('domains/' || $1, 0))`, accountID); err != nil {
			return err
		}
		if err := s.admit(ctx, tx.Domain, account, name); err != nil {
			return err
		}
		if err := m.create(tx.Domain, name).SetAccountID(accountID).SetInboundEnabled(in.InboundEnabled).Exec(ctx); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE domains SET due_at = now() + make_interval(secs => $2) WHERE id = $1`, m.id, firstCheck.Seconds()); err != nil {
			return err
		}
		made, err = tx.Domain.Get(ctx, m.id)
		return err
	})
	if ent.IsConstraintError(err) {
		return nil, alreadyAdded(name).Because(err)
	}
	if err != nil {
		return nil, fmt.Errorf("add domain: %w", err)
	}
	s.forget(accountID, name)
	return made.Unwrap(), nil
}

func (m material) create(c *ent.DomainClient, name string) *ent.DomainCreate {
	return c.Create().SetID(m.id).SetName(name).SetOwnershipToken(m.token).SetDkimSelector(m.selector).
		SetDkimPrivateKey(m.sealed).SetDkimPublicKey(m.publicKey)
}

// admit tells whether the account may add the name now.
func (s *Service) admit(ctx context.Context, c *ent.DomainClient, account accounts.Account, name string) error {
	own, err := c.Query().Where(domain.AccountID(account.ID), domain.Name(name)).Exist(ctx)
	switch {
	case err != nil:
		return err
	case own:
		return alreadyAdded(name)
	}
	taken, err := c.Query().Where(domain.Name(name), domain.StatusIn(domain.StatusVerified, domain.StatusTemporaryFailure)).Exist(ctx)
	switch {
	case err != nil:
		return err
	case taken:
		return s.claimed(account.ID, name)
	}
	count, err := c.Query().Where(domain.AccountID(account.ID)).Count(ctx)
	switch {
	case err != nil:
		return err
	case count >= account.Plan.MaxDomains:
		return planLimit(account.Plan)
	}
	return nil
}

func alreadyAdded(name string) *fault.Error {
	return fault.Conflictf(fault.CodeConflict, "This account already has the domain %s", name)
}

func planLimit(plan accounts.Plan) *fault.Error {
	noun := "domains"
	if plan.MaxDomains == 1 {
		noun = "domain"
	}
	return &fault.Error{Kind: fault.Limit, Code: fault.CodePlanLimit, UpgradeURL: accounts.UpgradeURL,
		Message: fmt.Sprintf("The plan %s allows %d %s; delete one or change the plan", plan.Name, plan.MaxDomains, noun)}
}

// claimed refuses a name that another account has verified, and says how control
// of it can be proved. The value belongs to the account that asks, so nobody can
// use an instruction that was made for somebody else.
func (s *Service) claimed(accountID, name string) *fault.Error {
	return fault.Conflictf(fault.CodeDomainClaimed, "The domain %s is verified by another account", name).With("claim", map[string]any{
		"type":  "TXT",
		"name":  ownershipLabel + name,
		"value": s.claimValue(accountID, name),
		"how": fmt.Sprintf("If you control %s, publish this TXT record beside those already there, then POST /domains/claims "+
			"with {\"name\": %q}.", name, name),
	})
}

func (s *Service) claimValue(accountID, name string) string {
	mac := hmac.New(sha256.New, s.claimKey)
	mac.Write([]byte(accountID + "\x00" + name))
	return "postrider-claim=" + hex.EncodeToString(mac.Sum(nil)[:20])
}
