package accounts

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/operatorkey"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/page"
)

// operatorTag follows the prefix, and the number of the cell, in the secret of an operator key.
const operatorTag = "op_"

var operatorSecret = regexp.MustCompile(`^` + KeyPrefix + `(?:[1-9][0-9]{0,3}_)?` + operatorTag)

// IsOperatorSecret reports whether a secret has the form of an operator key. An API key can have it by chance.
func IsOperatorSecret(token string) bool { return isSecret(token) && operatorSecret.MatchString(token) }

// NewOperatorKey is the input of CreateOperatorKey.
type NewOperatorKey struct {
	Name       string
	ExpiresAt  *time.Time // nil means never
	AllowedIPs []string   // see NewKey
	CreatedBy  string     // id of the operator; empty: the command line
	// Keep, if not nil, runs in the transaction that creates the key.
	Keep func(ctx context.Context, tx *ent.Tx, made *ent.OperatorKey, token secret.String) error
}

// Validate reports every wrong field.
func (in NewOperatorKey) Validate() error {
	_, wrong := in.normalize()
	return wrong.Err()
}

func (in NewOperatorKey) normalize() (NewOperatorKey, fault.Fields) {
	key, wrong := NewKey{Name: in.Name, ExpiresAt: in.ExpiresAt, AllowedIPs: in.AllowedIPs}.normalize()
	in.Name, in.ExpiresAt, in.AllowedIPs = key.Name, key.ExpiresAt, key.AllowedIPs
	return in, wrong
}

// CreateOperatorKey creates an operator key. Only its response contains the secret.
func (s *Service) CreateOperatorKey(ctx context.Context, in NewOperatorKey) (*ent.OperatorKey, secret.String, error) {
	in, wrong := in.normalize()
	if err := wrong.Err(); err != nil {
		return nil, secret.String{}, err
	}
	token, hash := secret.NewToken(KeyPrefix + id.KeyTag() + operatorTag)
	var made *ent.OperatorKey
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		create := tx.OperatorKey.Create().SetID(id.New(id.OperatorKey)).SetName(in.Name).
			SetPrefix(startOf(token.Reveal())).SetHash(hash).SetAllowedIps(in.AllowedIPs).SetNillableExpiresAt(in.ExpiresAt)
		if in.CreatedBy != "" {
			create.SetCreatedBy(in.CreatedBy)
		}
		var err error
		if made, err = create.Save(ctx); err != nil || in.Keep == nil {
			return err
		}
		return in.Keep(ctx, tx, made, token)
	})
	if err != nil {
		return nil, secret.String{}, fmt.Errorf("create operator key: %w", err)
	}
	return made.Unwrap(), token, nil
}

// OperatorKeys returns one page of the operator keys, newest first, revoked ones included. Error: Invalid.
func (s *Service) OperatorKeys(ctx context.Context, r page.Request) (page.Page[*ent.OperatorKey], error) {
	return page.ReadNewest(ctx, s.cursors, page.List{Name: "operator_keys"}, r.OrDefault(),
		s.db.Ent.OperatorKey.Query(), func(k *ent.OperatorKey) string { return k.ID })
}

// RevokeOperatorKey revokes an operator key: immediately in this process, within CacheTTL in others. Revoking it again
// changes nothing. keep, if not nil, runs in the transaction. Error: NotFound.
func (s *Service) RevokeOperatorKey(ctx context.Context, keyID string,
	keep func(ctx context.Context, tx *ent.Tx, revoked *ent.OperatorKey) error) (revoked *ent.OperatorKey, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		n, err := tx.OperatorKey.Update().Where(operatorkey.ID(keyID), operatorkey.RevokedAtIsNil()).
			Modify(func(u *entsql.UpdateBuilder) { u.Set(operatorkey.FieldRevokedAt, entsql.Expr("now()")) }).Save(ctx)
		if err != nil {
			return err
		}
		revoked, err = tx.OperatorKey.Query().Where(operatorkey.ID(keyID)).Only(ctx)
		switch {
		case ent.IsNotFound(err):
			return fault.NoSuch("operator key", keyID)
		case err != nil || n == 0 || keep == nil:
			return err
		}
		return keep(ctx, tx, revoked)
	})
	if err != nil {
		return nil, fault.Wrap("revoke operator key", err)
	}
	s.operators.known.Invalidate(keyHash(revoked.Hash))
	return revoked.Unwrap(), nil
}

// AuthenticateOperator returns the caller that the secret of an operator key identifies, acting for an account if
// accountID is not empty. from is the address of the client, or zero if it is unknown. Errors: Unauthorized; Forbidden
// with CodeAddressNotAllowed; NotFound for an unknown account, and for the one that sends the installation's own mail;
// Unavailable.
func (s *Service) AuthenticateOperator(ctx context.Context, bearer string, from netip.Addr,
	accountID string) (Caller, error) {
	if !IsOperatorSecret(bearer) {
		return Caller{}, fault.Unauthenticated()
	}
	found, err := s.operators.known.Get(ctx, keyHash(secret.HashToken(bearer)), s.loadOperatorKey)
	if err != nil {
		return Caller{}, fmt.Errorf("authenticate: %w", err)
	}
	if err := found.check(from); err != nil {
		return Caller{}, err
	}
	s.operators.used.MarkFrom(found.caller.Operator.KeyID, from)
	caller := found.caller
	if accountID == "" {
		return caller, nil
	}
	account, err := s.Account(ctx, accountID)
	if err != nil {
		return Caller{}, err
	}
	if account.System {
		return Caller{}, fault.NoSuch("account", accountID)
	}
	caller.AccountID, caller.Suspended, caller.Residence = account.ID, account.Suspended, account.Residence
	return caller, nil
}

// A key ends when its creator is no longer an operator. Expiry is as in selectCredential.
const selectOperatorKey = `
SELECT k.id, k.name, coalesce(k.allowed_ips, '[]'::jsonb)::text, extract(epoch FROM k.expires_at - now())::float8
  FROM operator_keys k LEFT JOIN users u ON u.id = k.created_by
 WHERE k.hash = $1 AND k.revoked_at IS NULL AND (k.created_by IS NULL OR u.operator AND u.disabled_at IS NULL)`

func (s *Service) loadOperatorKey(ctx context.Context, hash keyHash) (cachedCredential, error) {
	askedAt := time.Now()
	key := &Operator{}
	found := cachedCredential{known: true, caller: Caller{Scope: rights.ScopeOperator, Operator: key}}
	var allowedIPs string
	var expiresIn sql.NullFloat64
	err := s.db.SQL.QueryRowContext(ctx, selectOperatorKey, hash[:]).Scan(&key.KeyID, &key.Name, &allowedIPs, &expiresIn)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return cachedCredential{}, nil
	case err != nil:
		return cachedCredential{}, fault.OrUnavailable(err)
	}
	if err := json.Unmarshal([]byte(allowedIPs), &found.allowed); err != nil {
		return cachedCredential{}, fmt.Errorf("networks of operator key %s: %w", key.KeyID, err)
	}
	found.expires, found.expiresAt = expiresIn.Valid, expiryAfter(askedAt, expiresIn.Float64)
	return found, nil
}
