package domains

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/event"
)

// NewDomain is the input of Add.
type NewDomain struct {
	Name           string
	InboundEnabled bool
	Keep           StoreDomainResponse
}

// StoreDomainResponse stores the response for this request in the transaction that creates or changes a domain, so that
// neither exists without the other. It may be nil. If it fails, both are rolled back and its error is
// returned.
type StoreDomainResponse func(ctx context.Context, tx idempotency.Execer, d *ent.Domain) error

// Add creates a domain with its key. The domain is pending until its records are found.
func (s *Service) Add(ctx context.Context, accountID string, in NewDomain) (*ent.Domain, error) {
	if in.InboundEnabled && !s.on.Has("inbound") {
		return nil, fault.InvalidField("inbound_enabled", moduleDisabledMessage, "inbound")
	}
	account, name, err := s.names.parseRequest(ctx, accountID, in.Name)
	if err != nil {
		return nil, err
	}
	// Check before the expensive creation of a key, and again under the lock.
	if err := admit(ctx, s.db.Ent.Domain, account, name); err != nil {
		return nil, s.explain(ctx, err, accountID, name)
	}
	m, err := newMaterial(ctx, s.keys)
	if err != nil {
		return nil, err
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		// An account adds one domain at a time, because the plan's limit is a count.
		if err := lockAccount(ctx, tx, accountID); err != nil {
			return err
		}
		if err := admit(ctx, tx.Domain, account, name); err != nil {
			return err
		}
		err := m.insert(ctx, tx, name,
			func(c *ent.DomainCreate) { c.SetAccountID(accountID).SetInboundEnabled(in.InboundEnabled) })
		if err != nil {
			return err
		}
		if err := firstDue(ctx, tx, m.id); err != nil {
			return err
		}
		made, err := tx.Domain.Query().Where(domain.ID(m.id)).WithKeys(signing.LoadListedKeys).Only(ctx)
		if err != nil {
			return err
		}
		err = s.bus.Publish(ctx, tx, event.New(accountID, event.DomainAdded, made.CreatedAt,
			event.Domain{DomainID: made.ID, Name: made.Name, Status: string(made.Status)}))
		if err != nil || in.Keep == nil {
			return err
		}
		return in.Keep(ctx, tx, made)
	})
	if ent.IsConstraintError(err) {
		return nil, alreadyAdded(name).WithCause(err)
	}
	if err != nil {
		return nil, fmt.Errorf("add domain: %w", s.explain(ctx, err, accountID, name))
	}
	s.bus.Wake()
	s.forget(accountID, name)
	return s.Get(ctx, accountID, m.id)
}

func lockAccount(ctx context.Context, tx *ent.Tx, accountID string) error {
	_, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('domains/' || $1, 0))`, accountID)
	return err
}

// material is the input of a new domain: its id, token and first key.
type material struct {
	id    string
	token string
	key   signing.Pair
}

// newMaterial creates the material for a new domain, before the transaction that stores it.
func newMaterial(ctx context.Context, keys *signing.Ring) (material, error) {
	m := material{id: id.New(id.Domain), token: strings.ToLower(rand.Text())}
	var err error
	m.key, err = keys.RSA(ctx, m.id)
	return m, err
}

// insert stores the domain with its key.
func (m material) insert(ctx context.Context, tx *ent.Tx, name string, set func(*ent.DomainCreate)) error {
	create := tx.Domain.Create().SetID(m.id).SetName(name).SetOwnershipToken(m.token)
	set(create)
	if err := create.Exec(ctx); err != nil {
		return err
	}
	return m.key.StoreActive(ctx, tx, m.id)
}

// firstDue sets the first check of a new domain.
func firstDue(ctx context.Context, tx *ent.Tx, domainID string) error {
	_, err := tx.ExecContext(ctx, `UPDATE domains SET due_at = now() + make_interval(secs => $2) WHERE id = $1`, domainID, firstCheck.Seconds())
	return err
}

// errTaken is replaced with domain_claimed, whose instructions are created outside of the transaction.
var errTaken = errors.New("another account has verified the name")

func (s *Service) explain(ctx context.Context, err error, accountID, name string) error {
	if errors.Is(err, errTaken) {
		return s.refuseClaimed(ctx, accountID, name)
	}
	return err
}

// admit reports whether the account may add the name now.
func admit(ctx context.Context, c *ent.DomainClient, account accounts.Account, name string) error {
	own, err := c.Query().Where(domain.AccountID(account.ID), domain.Name(name)).Exist(ctx)
	switch {
	case err != nil:
		return err
	case own:
		return alreadyAdded(name)
	}
	taken, err := c.Query().Where(domain.Name(name), whereOwned()).Exist(ctx)
	switch {
	case err != nil:
		return err
	case taken:
		return errTaken
	}
	count, err := c.Query().Where(domain.AccountID(account.ID)).Count(ctx)
	switch {
	case err != nil:
		return err
	case !account.Plan.AllowsDomains(count + 1):
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
		Message: fmt.Sprintf("The plan %s allows %d %s; delete one or change the plan", plan.Name, plan.MaxDomains,
			noun)}
}
