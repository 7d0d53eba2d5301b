package accounts

import (
	"context"
	"fmt"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/account"
	"github.com/postrider/postrider/ent/apikey"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

const maxKeyDomains = 100

// NewKey is the input of CreateKey.
type NewKey struct {
	AccountID string
	Name      string
	Scope     rights.Scope // empty means full
	DomainIDs []string     // domains that the key may send from; empty means all
	ExpiresAt *time.Time   // nil means never
	// MakerKeyID is the id of the key that makes the request, whose limits the new key cannot exceed. It is
	// empty if the operator makes the request.
	MakerKeyID string
	// CreatedBy is the id of the user who creates the key. It is empty if the operator creates the key, or if
	// another key does. In the latter case the new key inherits that key's creator.
	CreatedBy string
	// Keep, if not nil, stores the response in the transaction that creates the key. If it fails, the key is
	// not created, and CreateKey returns its error.
	Keep func(ctx context.Context, tx idempotency.Execer, made *ent.APIKey, token secret.String) error
}

// Validate reports every wrong field.
func (in NewKey) Validate() error {
	_, wrong := in.normalize()
	return wrong.Err()
}

func (in NewKey) normalize() (NewKey, fault.Fields) {
	wrong := fault.Fields{}
	in.Name = checkName(wrong, "name", in.Name, true)
	if in.Scope == "" {
		in.Scope = rights.ScopeFull
	}
	if err := apikey.ScopeValidator(apikey.Scope(in.Scope)); err != nil {
		wrong.Add("scope", "must be one of full, sending, read")
	}
	if len(in.DomainIDs) > maxKeyDomains {
		wrong.Add("domain_ids", "cannot have more than %d entries", maxKeyDomains)
	}
	for i, domainID := range in.DomainIDs {
		if !id.Is(id.Domain, domainID) {
			wrong.Add(fmt.Sprintf("domain_ids[%d]", i), "must be the id of a domain")
		}
	}
	if in.ExpiresAt != nil && in.ExpiresAt.Before(time.Now()) {
		wrong.Add("expires_at", "must be in the future")
	}
	if in.ExpiresAt != nil {
		at := in.ExpiresAt.Truncate(time.Microsecond) // the precision of the database
		in.ExpiresAt = &at
	}
	return in, wrong
}

// CreateKey creates an API key. Only its response contains the secret.
func (s *Service) CreateKey(ctx context.Context, in NewKey) (*ent.APIKey, secret.String, error) {
	in, wrong := in.normalize()
	if err := wrong.Err(); err != nil {
		return nil, secret.String{}, err
	}
	if err := s.requireAccount(ctx, in.AccountID); err != nil {
		return nil, secret.String{}, err
	}
	token, hash := secret.NewToken(KeyPrefix)
	var made *ent.APIKey
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		maker, err := in.checkBounds(ctx, tx)
		if err != nil {
			return err
		}
		// a key created by a key inherits its creator, and so the creator's limits
		if maker != nil && maker.CreatedBy != nil {
			in.CreatedBy = *maker.CreatedBy
		}
		if made, err = insertKey(tx.APIKey, in, token, hash).Save(ctx); err != nil || in.Keep == nil {
			return err
		}
		return in.Keep(ctx, tx, made, token)
	})
	if err != nil {
		return nil, secret.String{}, fmt.Errorf("create key: %w", err)
	}
	return made.Unwrap(), token, nil
}

// EnsureKey stores a secret that already exists. It returns the account's key with this secret, or creates
// it. A revoked key stays revoked. It is safe to call from several processes at the same time.
func (s *Service) EnsureKey(ctx context.Context, accountID, name string, token secret.String,
	scope rights.Scope) (*ent.APIKey, error) {
	in, wrong := NewKey{AccountID: accountID, Name: name, Scope: scope}.normalize()
	if !isSecret(token.Reveal()) {
		wrong.Add("secret", "must be %s followed by letters, digits, - or _, %d to %d characters in total", KeyPrefix,
			minSecret, maxSecret)
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	if err := s.requireAccount(ctx, accountID); err != nil {
		return nil, err
	}
	hash := secret.HashToken(token.Reveal())
	find := func() (*ent.APIKey, error) { return s.db.Ent.APIKey.Query().Where(apikey.Hash(hash)).Only(ctx) }
	found, err := find()
	if ent.IsNotFound(err) {
		found, err = insertKey(s.db.Ent.APIKey, in, token, hash).Save(ctx)
		s.keys.Invalidate(keyHash(hash))
	}
	if ent.IsConstraintError(err) { // another process created it first
		found, err = find()
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("ensure key: %w", err)
	case found.AccountID != accountID:
		return nil, fault.Conflictf(fault.CodeConflict, "This secret already belongs to another account")
	}
	return found, nil
}

func insertKey(c *ent.APIKeyClient, in NewKey, token secret.String, hash []byte) *ent.APIKeyCreate {
	create := c.Create()
	if in.CreatedBy != "" {
		create.SetCreatedBy(in.CreatedBy)
	}
	return create.SetID(id.New(id.APIKey)).SetAccountID(in.AccountID).SetName(in.Name).
		SetScope(apikey.Scope(in.Scope)).SetPrefix(token.Reveal()[:shownPrefix]).SetHash(hash).
		SetDomainIds(in.DomainIDs).SetNillableExpiresAt(in.ExpiresAt)
}

func (s *Service) requireAccount(ctx context.Context, accountID string) error {
	known, err := s.db.Ent.Account.Query().Where(account.ID(accountID)).Exist(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("look up account: %w", err)
	case !known:
		return fault.NoSuch("account", accountID)
	}
	return nil
}

// RevokeKey revokes a key: immediately in this process, within CacheTTL in others. Revoking it again changes
// nothing.
func (s *Service) RevokeKey(ctx context.Context, accountID, keyID string) (*ent.APIKey, error) {
	err := s.db.Ent.APIKey.Update().Where(apikey.ID(keyID), apikey.AccountID(accountID), apikey.RevokedAtIsNil()).
		Modify(func(u *entsql.UpdateBuilder) { u.Set(apikey.FieldRevokedAt, entsql.Expr("now()")) }).Exec(ctx)
	if err != nil {
		return nil, fmt.Errorf("revoke key: %w", err)
	}
	found, err := s.Key(ctx, accountID, keyID)
	if err != nil {
		return nil, err
	}
	s.keys.Invalidate(keyHash(found.Hash))
	return found, nil
}

// KeyChange is the input of UpdateKey.
type KeyChange struct {
	Name *string // nil keeps the name
}

// Validate reports every wrong field.
func (c KeyChange) Validate() error {
	_, wrong := c.normalize()
	return wrong.Err()
}

func (c KeyChange) normalize() (KeyChange, fault.Fields) {
	wrong := fault.Fields{}
	if c.Name != nil {
		c.Name = new(checkName(wrong, "name", *c.Name, true))
	}
	return c, wrong
}

// UpdateKey changes a key and returns it. Revoked keys can be changed too, because lists still show them.
func (s *Service) UpdateKey(ctx context.Context, accountID, keyID string, change KeyChange) (*ent.APIKey, error) {
	change, wrong := change.normalize()
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	if change.Name != nil {
		if err := s.db.Ent.APIKey.Update().Where(apikey.ID(keyID), apikey.AccountID(accountID)).SetName(*change.Name).
			Exec(ctx); err != nil {
			return nil, fmt.Errorf("rename key: %w", err)
		}
	}
	return s.Key(ctx, accountID, keyID)
}

// Key returns one key of the account.
func (s *Service) Key(ctx context.Context, accountID, keyID string) (*ent.APIKey, error) {
	found, err := s.db.Ent.APIKey.Query().Where(apikey.ID(keyID), apikey.AccountID(accountID)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("API key", keyID)
	case err != nil:
		return nil, fmt.Errorf("key: %w", err)
	}
	return found, nil
}
