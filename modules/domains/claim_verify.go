package domains

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/ent/domainclaim"
	"github.com/postrider/postrider/ent/predicate"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// errChanged marks a claim or domain that changed while a claim was verified.
var errChanged = fault.Conflictf(fault.CodeConflict,
	"The claim or the domain was changed at the same time; verify the claim again")

// VerifyClaim looks up the claim's TXT record. If it is found, the domain moves to the account: a new domain
// with new keys, pending until its own records are found. Otherwise the claim is unchanged and its record
// contains advice; domain is then nil. It is also nil if the domain has been deleted since.
func (s *claims) VerifyClaim(ctx context.Context, accountID, claimID string) (Claim, *ent.Domain, error) {
	c, now, err := s.findClaim(ctx, accountID, claimID)
	if err != nil {
		return Claim{}, nil, err
	}
	switch toClaim(c, now).Status {
	case ClaimExpired:
		return Claim{}, nil, fault.Conflictf(fault.CodeConflict, "The claim expired on %s; start another one",
			c.ExpiresAt.UTC().Format(time.DateOnly))
	case ClaimCompleted:
		return s.claimAndDomain(ctx, accountID, claimID)
	case ClaimPending:
	}
	record := s.checker.LookProof(ctx, dnscheck.Proof(c.Name, c.Token))
	if err := ctx.Err(); err != nil {
		return Claim{}, nil, err // the caller disconnected, which canceled the lookup
	}
	if record.Status != dnscheck.Verified {
		_, err := s.db.SQL.ExecContext(ctx, `UPDATE domain_claims SET last_checked_at = now() WHERE id = $1`, c.ID)
		if err != nil {
			return Claim{}, nil, fmt.Errorf("verify claim: %w", err)
		}
		out, err := s.GetClaim(ctx, accountID, claimID)
		if out.Status == ClaimPending {
			out.Record = record
		}
		return out, nil, err
	}
	if err := s.completeClaim(ctx, c); err != nil {
		return Claim{}, nil, fmt.Errorf("verify claim: %w", err)
	}
	return s.claimAndDomain(ctx, accountID, claimID)
}

func (s *claims) claimAndDomain(ctx context.Context, accountID, claimID string) (Claim, *ent.Domain, error) {
	c, err := s.GetClaim(ctx, accountID, claimID)
	if err != nil {
		return Claim{}, nil, err
	}
	own, err := s.db.Ent.Domain.Query().Where(domain.AccountID(accountID), domain.Name(c.Name)).
		WithKeys(signing.LoadListedKeys).
		Only(ctx)
	if err != nil && !ent.IsNotFound(err) {
		return Claim{}, nil, fmt.Errorf("read claimed domain: %w", err)
	}
	return c, own, nil
}

// completeClaim moves the domain. A second claimant finds that the former owner has already lost it, and
// still gets a pending domain.
func (s *claims) completeClaim(ctx context.Context, c *ent.DomainClaim) error {
	account, err := s.names.accounts.Account(ctx, c.AccountID)
	if err != nil {
		return err
	}
	m, err := s.claimMaterial(ctx, c)
	if err != nil {
		return err
	}
	var former *ent.Domain
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := lockAccount(ctx, tx, c.AccountID); err != nil {
			return err
		}
		at, err := closeClaim(ctx, tx, c)
		if err != nil {
			return err
		}
		if former, err = lockOwner(ctx, tx, c.Name); err != nil {
			return err
		}
		if former != nil && *former.AccountID == c.AccountID {
			former = nil // the account itself has verified the name meanwhile: there is nothing to move
			return nil
		}
		if former != nil {
			if err := s.lose(ctx, tx, former, at); err != nil {
				return err
			}
		}
		if err := s.win(ctx, tx, account, c, m); err != nil {
			return err
		}
		return s.bus.Publish(ctx, tx, event.New(c.AccountID, event.DomainClaimed, at,
			event.Domain{DomainID: m.id, Name: c.Name, Status: string(domain.StatusPending)}))
	})
	switch {
	case ent.IsConstraintError(err):
		return errChanged
	case errors.Is(err, errChanged):
		// Another request may have completed the same claim, which is not an error.
		if now, err := s.GetClaim(ctx, c.AccountID, c.ID); err == nil && now.Status == ClaimCompleted {
			return nil
		}
		return err
	case err != nil:
		return err
	}
	s.bus.Wake()
	s.lookups.forget(c.AccountID, c.Name)
	if former != nil {
		s.lookups.forget(*former.AccountID, c.Name)
	}
	s.log.Info("domain claimed", "domain", c.Name, "domain_id", m.id, "account_id", c.AccountID)
	return nil
}

// claimMaterial creates the keys before the transaction. If the account already has the domain unverified,
// its id is kept, because API keys may refer to it, and nothing else.
func (s *claims) claimMaterial(ctx context.Context, c *ent.DomainClaim) (material, error) {
	m, err := newMaterial(ctx, s.keys)
	if err != nil {
		return material{}, err
	}
	own, err := s.db.Ent.Domain.Query().Where(domain.AccountID(c.AccountID), domain.Name(c.Name)).OnlyID(ctx)
	switch {
	case ent.IsNotFound(err):
		return m, nil
	case err != nil:
		return material{}, err
	}
	m.id = own
	m.key, err = s.keys.RSA(ctx, own) // sealed for this id
	return m, err
}

// closeClaim completes the claim if it is still open.
func closeClaim(ctx context.Context, tx *ent.Tx, c *ent.DomainClaim) (time.Time, error) {
	at, err := db.One(ctx, tx, db.Value[time.Time], `UPDATE domain_claims SET status = 'completed', completed_at = now(), last_checked_at = now()
		WHERE id = $1 AND status = 'pending' AND expires_at > now() RETURNING now()`, c.ID)
	if errors.Is(err, sql.ErrNoRows) {
		err = errChanged
	}
	return at, err
}

// lockOwner locks and returns the domain of the account that has verified the name, or returns nil.
func lockOwner(ctx context.Context, tx *ent.Tx, name string) (*ent.Domain, error) {
	owner, err := db.One(ctx, tx, db.Value[string],
		`SELECT id FROM domains WHERE name = $1 AND status IN ('verified', 'temporary_failure') AND account_id IS NOT NULL FOR UPDATE`, name)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return tx.Domain.Get(ctx, owner)
}

const lostAdvice = "Another account proved control of %s on %s. If the domain is yours, publish this new record " +
	"and verify the domain again."

// lose marks the domain of the former owner as failed. Its ownership token changes, so that its published
// records cannot verify the name again. It is checked only on request.
func (s *claims) lose(ctx context.Context, tx *ent.Tx, d *ent.Domain, at time.Time) error {
	records := []shape.RecordState{{Purpose: string(dnscheck.Ownership), Status: string(dnscheck.Missing),
		Found: []string{},
		Error: fmt.Sprintf(lostAdvice, d.Name, at.UTC().Format(time.DateOnly))}}
	for _, r := range d.Records {
		if r.Purpose != string(dnscheck.Ownership) {
			records = append(records, r)
		}
	}
	encoded, err := json.Marshal(records)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE domains SET status = 'failed', seeded = false, ownership_token = $2, records = $3::jsonb, failing_since = NULL,
		due_at = NULL, check_attempts = 0, fence = fence + 1, updated_at = now() WHERE id = $1`, d.ID, strings.ToLower(rand.Text()), string(encoded))
	if err != nil {
		return err
	}
	if err := storeHistory(ctx, tx, d, domain.StatusFailed, records, true); err != nil {
		return err
	}
	return s.bus.Publish(ctx, tx, event.New(*d.AccountID, event.DomainLost, at,
		event.Domain{DomainID: d.ID, Name: d.Name, Status: string(domain.StatusFailed)}))
}

// win assigns the domain to the account.
func (s *claims) win(ctx context.Context, tx *ent.Tx, account accounts.Account, c *ent.DomainClaim, m material) error {
	if err := checkPlanLimit(ctx, tx, account, c.Name); err != nil {
		return err
	}
	inbound := false
	own, err := tx.Domain.Query().Where(domain.AccountID(c.AccountID), domain.Name(c.Name)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
	case err != nil:
		return err
	case own.ID != m.id:
		return errChanged // added after the key was created
	default:
		inbound = own.InboundEnabled
		if _, err := remove(ctx, tx, own); err != nil {
			return err
		}
	}
	if err := m.insert(ctx, tx, c.Name,
		func(d *ent.DomainCreate) { d.SetAccountID(c.AccountID).SetInboundEnabled(inbound) }); err != nil {
		return err
	}
	return firstDue(ctx, tx, m.id)
}

// whereNotExpired selects rows that have not expired by the clock of the database.
func whereNotExpired(selector *entsql.Selector) {
	selector.Where(entsql.ExprP(selector.C(domainclaim.FieldExpiresAt) + " > now()"))
}

// whereOwned selects the domains that reserve their name.
func whereOwned() predicate.Domain {
	return domain.StatusIn(domain.StatusVerified, domain.StatusTemporaryFailure)
}
