package accounts

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/account"
	"github.com/postrider/postrider/ent/apikey"
	"github.com/postrider/postrider/modules/accounts/credentials"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

const (
	maxKeyDomains  = 100
	maxKeyNetworks = 50
)

// MaxOverlap is the longest time that a rotated key keeps working.
const MaxOverlap = 30 * 24 * time.Hour

// KeepKey stores a new key and its secret in the transaction that creates the key.
type KeepKey func(ctx context.Context, tx idempotency.Execer, made *ent.APIKey, token secret.String) error

// NewKey is the input of CreateKey.
type NewKey struct {
	AccountID string
	Name      string
	Mode      apikey.Mode  // empty means live
	Scope     rights.Scope // empty means full
	// Permissions narrow the scope; empty means everything that the scope allows.
	Permissions []rights.Permission
	DomainIDs   []string   // domains that the key may send from; empty means all
	ExpiresAt   *time.Time // nil means never
	// AllowedIPs are the networks, in CIDR notation, or single addresses that the key can be used from. Empty means all.
	AllowedIPs []string
	// MakerKeyID is the id of the key that makes the request, whose limits the new key cannot exceed. It is
	// empty if the operator makes the request.
	MakerKeyID string
	// CreatedBy is the id of the user who creates the key. It is empty if the operator creates the key, or if
	// another key does. In the latter case the new key inherits that key's creator.
	CreatedBy string
	// Keep, if not nil, stores the response in the transaction that creates the key. If it fails, the key is
	// not created, and CreateKey returns its error.
	Keep KeepKey
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
	if in.Mode == "" {
		in.Mode = apikey.ModeLive
	}
	if err := apikey.ModeValidator(in.Mode); err != nil {
		wrong.Add("mode", "must be one of live, test")
	}
	if err := apikey.ScopeValidator(apikey.Scope(in.Scope)); err != nil {
		wrong.Add("scope", "must be one of full, sending, read")
	}
	in.Permissions = checkPermissions(wrong, in.Permissions)
	if len(in.DomainIDs) > maxKeyDomains {
		wrong.Add("domain_ids", "cannot have more than %d entries", maxKeyDomains)
	}
	for i, domainID := range in.DomainIDs {
		if !id.Is(id.Domain, domainID) {
			wrong.Add(fmt.Sprintf("domain_ids[%d]", i), "must be the id of a domain")
		}
	}
	in.AllowedIPs = checkNetworks(wrong, in.AllowedIPs)
	if in.ExpiresAt != nil && in.ExpiresAt.Before(time.Now()) {
		wrong.Add("expires_at", "must be in the future")
	}
	if in.ExpiresAt != nil {
		at := in.ExpiresAt.Truncate(time.Microsecond) // the precision of the database
		in.ExpiresAt = &at
	}
	return in, wrong
}

// CheckMode adds an error to wrong if a key or an SMTP credential of a mode cannot be created.
func (s *Service) CheckMode(wrong fault.Fields, mode string) {
	if mode == string(apikey.ModeTest) && s.config.NoTestMode {
		wrong.Add("mode", "cannot be test, because the module testmode is disabled")
	}
}

// CreateKey creates an API key. Only its response contains the secret.
func (s *Service) CreateKey(ctx context.Context, in NewKey) (*ent.APIKey, secret.String, error) {
	in, wrong := in.normalize()
	s.CheckMode(wrong, string(in.Mode))
	if err := wrong.Err(); err != nil {
		return nil, secret.String{}, err
	}
	if err := s.requireAccount(ctx, in.AccountID); err != nil {
		return nil, secret.String{}, err
	}
	token, hash := newSecret(in.Mode)
	var made *ent.APIKey
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		var err error
		made, err = in.insertWithinBounds(ctx, tx, token, hash)
		return err
	})
	if err != nil {
		return nil, secret.String{}, fmt.Errorf("create key: %w", err)
	}
	return made.Unwrap(), token, nil
}

// insertWithinBounds inserts the key, if the key that makes the request may create it, and stores the response.
func (in NewKey) insertWithinBounds(ctx context.Context, tx *ent.Tx, token secret.String,
	hash []byte) (*ent.APIKey, error) {
	maker, err := in.checkBounds(ctx, tx)
	if err != nil {
		return nil, err
	}
	// a key created by a key inherits its creator, and so the creator's limits
	if maker != nil && maker.CreatedBy != nil {
		in.CreatedBy = *maker.CreatedBy
	}
	made, err := insertKey(tx.APIKey, in, token, hash).Save(ctx)
	if err != nil || in.Keep == nil {
		return made, err
	}
	return made, in.Keep(ctx, tx, made, token)
}

// EnsureKey stores a secret that already exists. It returns the account's key with this secret, or creates
// it. A revoked key stays revoked. It is safe to call from several processes at the same time.
func (s *Service) EnsureKey(ctx context.Context, accountID, name string, token secret.String,
	scope rights.Scope) (*ent.APIKey, error) {
	in, wrong := NewKey{AccountID: accountID, Name: name, Scope: scope}.normalize()
	if !isSecret(token.Reveal()) {
		wrong.Add("secret", "must be %s followed by letters, digits, - or _, %d to %d characters in total", KeyPrefix,
			minSecret, maxSecret)
	} else if isTestSecret(token.Reveal()) {
		wrong.Add("secret", "must not begin with %s%s, which is for test keys", KeyPrefix, testTag)
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	if err := s.requireAccount(ctx, accountID); err != nil {
		return nil, err
	}
	hash := HashSecret(token.Reveal())
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
	if len(in.Permissions) > 0 {
		create.SetPermissions(namesOf(in.Permissions))
	}
	return create.SetID(id.New(id.APIKey)).SetAccountID(in.AccountID).SetName(in.Name).
		SetMode(in.Mode).SetScope(apikey.Scope(in.Scope)).SetPrefix(startOf(token.Reveal())).SetHash(hash).
		SetDomainIds(in.DomainIDs).SetAllowedIps(in.AllowedIPs).SetNillableExpiresAt(in.ExpiresAt)
}

// checkNetworks returns networks in their canonical form.
func checkNetworks(wrong fault.Fields, networks []string) []string {
	if len(networks) > maxKeyNetworks {
		wrong.Add("allowed_ips", "cannot have more than %d entries", maxKeyNetworks)
		return nil
	}
	canonical := make([]string, len(networks))
	for i, text := range networks {
		network, err := parseNetwork(text)
		if err != nil {
			wrong.Add(fmt.Sprintf("allowed_ips[%d]", i), "must be an IP address or a network such as 192.0.2.0/24")
			continue
		}
		canonical[i] = network.String()
	}
	return canonical
}

func parseNetwork(text string) (netip.Prefix, error) {
	if !strings.Contains(text, "/") {
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, errors.New("invalid address")
		}
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil || network.Addr().Is4In6() {
		return netip.Prefix{}, errors.New("invalid network")
	}
	return network.Masked(), nil
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
	Name       *string   // nil keeps the name
	AllowedIPs *[]string // see NewKey; nil keeps the networks
	// ByKeyID is the id of the key that makes the request, or empty. A key that is limited to networks cannot widen them.
	ByKeyID string
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
	if c.AllowedIPs != nil {
		c.AllowedIPs = new(checkNetworks(wrong, *c.AllowedIPs))
	}
	return c, wrong
}

// UpdateKey changes a key and returns it. Revoked keys can be changed too, because lists still show them.
func (s *Service) UpdateKey(ctx context.Context, accountID, keyID string, change KeyChange) (*ent.APIKey, error) {
	change, wrong := change.normalize()
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		update := tx.APIKey.Update().Where(apikey.ID(keyID), apikey.AccountID(accountID)).SetNillableName(change.Name)
		if change.AllowedIPs != nil {
			maker, _, err := credentials.FindBounds(ctx, tx, accountID, change.ByKeyID, nil)
			if err != nil {
				return err
			}
			if err := boundsOf(maker).checkNetworks(*change.AllowedIPs).Err(); err != nil {
				return err
			}
			update.SetAllowedIps(*change.AllowedIPs)
		}
		return update.Exec(ctx)
	})
	if err != nil {
		return nil, fmt.Errorf("update key: %w", err)
	}
	found, err := s.Key(ctx, accountID, keyID)
	if err == nil {
		s.keys.Invalidate(keyHash(found.Hash))
	}
	return found, err
}

// Rotation is the input of RotateKey.
type Rotation struct {
	AccountID, KeyID string
	Overlap          time.Duration // how long the old secret keeps working; 0 to MaxOverlap
	// MakerKeyID, CreatedBy and Keep are as in NewKey.
	MakerKeyID, CreatedBy string
	Keep                  KeepKey
}

// RotateKey creates a key with the name, scope, domains, networks and expiry of another one, which expires after the
// overlap. Errors: NotFound; Conflict for a key that is revoked or has expired.
func (s *Service) RotateKey(ctx context.Context, r Rotation) (*ent.APIKey, secret.String, error) {
	if r.Overlap < 0 || r.Overlap > MaxOverlap {
		return nil, secret.String{}, fault.InvalidField("overlap_seconds", "must be between 0 and %d",
			int(MaxOverlap.Seconds()))
	}
	var token secret.String
	var old, made *ent.APIKey
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		var err error
		if old, err = lockRotatable(ctx, tx, r); err != nil {
			return err
		}
		var hash []byte
		token, hash = newSecret(old.Mode)
		in := NewKey{AccountID: r.AccountID, Name: old.Name, Mode: old.Mode, Scope: rights.Scope(old.Scope), DomainIDs: old.DomainIds,
			Permissions: permissionsOf(old), AllowedIPs: old.AllowedIps, ExpiresAt: old.ExpiresAt, MakerKeyID: r.MakerKeyID, CreatedBy: r.CreatedBy,
			Keep: r.Keep}
		// before the old key expires, which may be the one that makes the request
		if made, err = in.insertWithinBounds(ctx, tx, token, hash); err != nil {
			return err
		}
		return expireAfter(ctx, tx, old, r.Overlap)
	})
	if err != nil {
		return nil, secret.String{}, fmt.Errorf("rotate key: %w", err)
	}
	s.keys.Invalidate(keyHash(old.Hash))
	return made.Unwrap(), token, nil
}

// lockRotatable locks the key to rotate and returns it.
func lockRotatable(ctx context.Context, tx *ent.Tx, r Rotation) (*ent.APIKey, error) {
	old, err := tx.APIKey.Query().Where(apikey.ID(r.KeyID), apikey.AccountID(r.AccountID)).ForUpdate().Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("API key", r.KeyID)
	case err != nil:
		return nil, err
	case old.RevokedAt != nil:
		return nil, fault.Conflictf(fault.CodeConflict, "This API key is revoked. Create another key")
	case old.ExpiresAt != nil && !old.ExpiresAt.After(time.Now()):
		return nil, fault.Conflictf(fault.CodeConflict, "This API key has expired. Create another key")
	}
	return old, nil
}

// expireAfter lets a key expire after the overlap, unless it expires earlier.
func expireAfter(ctx context.Context, tx *ent.Tx, old *ent.APIKey, overlap time.Duration) error {
	return tx.APIKey.Update().Where(apikey.ID(old.ID)).Modify(func(u *entsql.UpdateBuilder) {
		u.Set(apikey.FieldExpiresAt, entsql.ExprFunc(func(b *entsql.Builder) {
			b.WriteString("least(expires_at, now() + make_interval(secs => ").Arg(overlap.Seconds()).WriteString("))")
		}))
	}).Exec(ctx)
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
