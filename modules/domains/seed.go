package domains

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/ent/predicate"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
)

// SandboxDomain returns the domain from which every account can send to its own email address.
func (s *Service) SandboxDomain() string { return s.lookups.sandbox }

// EnsureSandbox returns the installation's own domain, which belongs to no account. It creates the domain if
// necessary.
func (s *Service) EnsureSandbox(ctx context.Context) (*ent.Domain, error) {
	return s.ensureSeeded(ctx, nil, s.lookups.sandbox)
}

// EnsureSeeded returns a domain of the account that counts as verified without any DNS lookup, for
// development mode. If the account has already added the domain, EnsureSeeded changes it.
func (s *Service) EnsureSeeded(ctx context.Context, accountID, name string) (*ent.Domain, error) {
	name, err := address.ParseDomain(name)
	if err != nil {
		return nil, fault.InvalidField("name", "%s", err)
	}
	defer s.forget(accountID, name)
	return s.ensureSeeded(ctx, &accountID, name)
}

func (s *Service) ensureSeeded(ctx context.Context, accountID *string, name string) (*ent.Domain, error) {
	owner := domain.AccountIDIsNil()
	if accountID != nil {
		owner = domain.AccountID(*accountID)
	}
	found, err := s.findSeeded(ctx, owner, name)
	if err == nil || !ent.IsNotFound(err) {
		return found, err
	}
	m, err := newMaterial(ctx, s.keys)
	if err != nil {
		return nil, err
	}
	// Another process may do the same concurrently: the unique indexes allow one row, and the other process
	// updates or finds it.
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('domains/seed/' || $1, 0))`, name); err != nil {
			return err
		}
		changed, err := tx.Domain.Update().Where(owner, domain.Name(name)).SetSeeded(true).
			SetStatus(domain.StatusVerified).ClearDueAt().Save(ctx)
		if err != nil || changed > 0 {
			return err
		}
		return m.insert(ctx, tx, name, func(c *ent.DomainCreate) {
			c.SetNillableAccountID(accountID).SetSeeded(true).SetStatus(domain.StatusVerified)
		})
	})
	if ent.IsConstraintError(err) {
		return nil, fault.Conflictf(fault.CodeConflict,
			"The domain %s has been verified by an account of this installation and cannot be seeded", name).
			WithCause(err)
	}
	if err != nil {
		return nil, fmt.Errorf("seed domain %s: %w", name, err)
	}
	return s.findSeeded(ctx, owner, name)
}

// findSeeded returns the row, and checks that its key can be used.
func (s *Service) findSeeded(ctx context.Context, owner predicate.Domain, name string) (*ent.Domain, error) {
	found, err := s.db.Ent.Domain.Query().
		Where(owner, domain.Name(name), domain.Seeded(true), domain.StatusEQ(domain.StatusVerified)).
		WithKeys(signing.LoadListedKeys).Only(ctx)
	if err != nil {
		return nil, err
	}
	// Report a changed master key at startup rather than with the first email.
	if _, err := s.keys.Signers(ctx, found); err != nil {
		return nil, err
	}
	return found, nil
}
