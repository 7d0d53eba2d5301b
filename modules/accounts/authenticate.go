package accounts

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts/credentials"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
)

// KeyPrefix is the prefix of every secret. Outside cell 0, the number of the cell follows (id.KeyTag), then testTag in
// the secrets of test keys.
const (
	KeyPrefix = "svc_"
	testTag   = "test_"
)

const (
	shownPrefix   = 12 // characters of a secret that are stored and shown, in addition to the cell
	minSecret     = 24
	maxSecret     = 128
	lookupTimeout = 5 * time.Second
)

// keyHash is the SHA-256 of a secret. The cache never holds the secret itself.
type keyHash [sha256.Size]byte

// cachedCredential is the cached result of the lookup of a hash, including "unknown".
type cachedCredential struct {
	caller  Caller
	allowed []netip.Prefix // networks that the key can be used from; empty means all
	known   bool           // exists and is not revoked
	expires bool
	// on this process's monotonic clock, computed from the remaining time that the database returned
	expiresAt time.Time
}

// Authenticate returns the caller that a secret identifies. The secret is passed without the word Bearer. from is
// the address of the client, or zero if it is unknown. Errors: Unauthorized; Forbidden with CodeAddressNotAllowed
// for a key that cannot be used from this address; Unavailable.
func (s *Service) Authenticate(ctx context.Context, bearer string, from netip.Addr) (Caller, error) {
	if !isSecret(bearer) {
		return Caller{}, fault.Unauthenticated()
	}
	return s.AuthenticateHash(ctx, keyHash(HashSecret(bearer)), from)
}

// AuthenticateHash is Authenticate for a caller that has only the hash of a secret (HashSecret).
func (s *Service) AuthenticateHash(ctx context.Context, hash [sha256.Size]byte, from netip.Addr) (Caller, error) {
	found, err := s.keys.Get(ctx, hash, s.loadCredential)
	if err != nil {
		return Caller{}, fmt.Errorf("authenticate: %w", err)
	}
	if err := found.check(from); err != nil {
		return Caller{}, err
	}
	s.used.MarkFrom(found.caller.KeyID, from)
	return found.caller, nil
}

// check returns an error if the key is unknown or expired, or cannot be used from an address.
func (c cachedCredential) check(from netip.Addr) error {
	switch {
	case !c.known, c.expires && !time.Now().Before(c.expiresAt):
		return fault.Unauthenticated()
	case !c.allowsAddress(from):
		return errAddress(from)
	}
	return nil
}

// allowsAddress reports whether the key can be used from an address. A key that is limited to some networks
// cannot be used from an unknown address.
func (c cachedCredential) allowsAddress(from netip.Addr) bool {
	from = from.Unmap().WithZone("")
	return len(c.allowed) == 0 ||
		slices.ContainsFunc(c.allowed, func(network netip.Prefix) bool { return network.Contains(from) })
}

func errAddress(from netip.Addr) *fault.Error {
	if !from.IsValid() {
		return fault.Forbiddenf(fault.CodeAddressNotAllowed,
			"This API key is limited to some networks, and the address of this request is unknown")
	}
	return fault.Forbiddenf(fault.CodeAddressNotAllowed, "This API key cannot be used from %s", from)
}

// isSecret reports whether a string has the form of a secret, so that garbage costs no query.
func isSecret(s string) bool {
	rest, found := strings.CutPrefix(s, KeyPrefix)
	if !found || len(s) < minSecret || len(s) > maxSecret {
		return false
	}
	for i := range len(rest) {
		c := rest[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// Expiry follows the database clock. From the remaining time, the cache can later detect expiry without a
// query.
const selectCredential = `
SELECT k.id, k.account_id, k.mode = 'test', k.scope, coalesce(k.permissions, 'null'::jsonb)::text, coalesce(k.domain_ids, '[]'::jsonb)::text, coalesce(k.allowed_ips, '[]'::jsonb)::text, a.suspended_at IS NOT NULL,
       ` + ResidenceColumns + `, extract(epoch FROM k.expires_at - now())::float8, ` + credentials.Columns + `
  FROM api_keys k JOIN accounts a ON a.id = k.account_id ` + credentials.Joins + `
 WHERE k.hash = $1 AND k.revoked_at IS NULL`

func (s *Service) loadCredential(ctx context.Context, hash keyHash) (cachedCredential, error) {
	askedAt := time.Now()
	found := cachedCredential{known: true}
	var permissions, domainIDs, allowedIPs string
	var expiresIn sql.NullFloat64
	var by credentials.Row
	var test bool
	err := s.db.SQL.QueryRowContext(ctx, selectCredential, hash[:]).Scan(slices.Concat([]any{&found.caller.KeyID,
		&found.caller.AccountID, &test, &found.caller.Scope, &permissions, &domainIDs, &allowedIPs, &found.caller.Suspended},
		ScanResidence(&found.caller.Residence), []any{&expiresIn}, by.ScanTargets())...)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return cachedCredential{}, nil
	case err != nil:
		return cachedCredential{}, fault.OrUnavailable(err)
	}
	if test {
		found.caller.AccountID = id.TestTenantOf(found.caller.AccountID)
	}
	found.caller.Creator = by.Creator()
	if err := json.Unmarshal([]byte(permissions), &found.caller.Permissions); err != nil {
		return cachedCredential{}, fmt.Errorf("permissions of key %s: %w", found.caller.KeyID, err)
	}
	if err := json.Unmarshal([]byte(domainIDs), &found.caller.DomainIDs); err != nil {
		return cachedCredential{}, fmt.Errorf("domains of key %s: %w", found.caller.KeyID, err)
	}
	if err := json.Unmarshal([]byte(allowedIPs), &found.allowed); err != nil {
		return cachedCredential{}, fmt.Errorf("networks of key %s: %w", found.caller.KeyID, err)
	}
	found.expires, found.expiresAt = expiresIn.Valid, expiryAfter(askedAt, expiresIn.Float64)
	return found, nil
}

// expiryAfter returns the time after a number of seconds. A key may live longer than a Duration can represent; beyond
// the life of the cache entry, the exact time does not matter.
func expiryAfter(askedAt time.Time, seconds float64) time.Time {
	return askedAt.Add(time.Duration(min(seconds, (24*time.Hour).Seconds()) * float64(time.Second)))
}
