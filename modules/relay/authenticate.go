package relay

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

	"github.com/postrider/postrider/ent/smtpcredential"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/credentials"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
)

const (
	// believedFor is how long an open connection uses a credential without checking it again.
	believedFor   = time.Second
	lookupTimeout = 5 * time.Second
)

// passwordHash is the only stored form of a password, even in memory.
type passwordHash [sha256.Size]byte

// credential is the result of a hash lookup, possibly that none exists.
type credential struct {
	id     string
	caller accounts.Caller
	known  bool // exists and is not revoked
}

// signedInWith identifies the login of an open connection, for later checks.
type signedInWith struct {
	hash   passwordHash
	apiKey bool // an API key was used as the password
	from   netip.Addr
}

// authenticate checks a password: that of a credential, or an API key that may send. Credentials are always
// looked up in the database, so that a new connection never relies on stale state; the accounts package looks
// up API keys. The password alone identifies the account, so any user name is accepted: clients that migrate
// from another service keep theirs. Every failed check returns Unauthorized.
func (s *Credentials) authenticate(ctx context.Context, password string, from netip.Addr) (signedInWith, error) {
	with := signedInWith{hash: passwordHash(hashPassword(password)), from: from,
		apiKey: strings.HasPrefix(password, accounts.KeyPrefix)}
	var found credential
	var err error
	if with.apiKey {
		found, err = s.byKey(ctx, with)
	} else if found, err = s.loadCredential(ctx, with.hash); err == nil {
		s.known.Set(with.hash, found)
	}
	switch {
	case err != nil:
		return with, fmt.Errorf("authenticate: %w", err)
	case !found.known:
		return with, fault.Unauthenticated()
	}
	s.markUsed(found)
	return with, nil
}

// byKey returns a credential for an API key that may send from the client's address.
func (s *Credentials) byKey(ctx context.Context, with signedInWith) (credential, error) {
	caller, err := s.accounts.AuthenticateHash(ctx, with.hash, with.from)
	switch {
	case fault.KindOf(err) == fault.Unauthorized, fault.KindOf(err) == fault.Forbidden:
		return credential{}, nil
	case err != nil:
		return credential{}, err
	}
	caller.TestAllowed = true // mail of test mode is captured
	return credential{caller: caller, known: caller.MaySend()}, nil
}

// markUsed records the use of a credential. The accounts package does so for API keys.
func (s *Credentials) markUsed(c credential) {
	if c.id != "" {
		s.used.Mark(c.id)
	}
}

// recheckCredential checks whether a login is still valid.
func (s *Credentials) recheckCredential(ctx context.Context, with signedInWith) (found credential, err error) {
	if with.apiKey {
		found, err = s.byKey(ctx, with)
	} else {
		found, err = s.known.Get(ctx, with.hash, s.loadCredential)
	}
	switch {
	case err != nil:
		return credential{}, fmt.Errorf("authenticate again: %w", err)
	case !found.known:
		return credential{}, fault.Unauthenticated()
	}
	return found, nil
}

const selectCredential = `
SELECT k.id, k.account_id, k.mode, coalesce(k.domain_ids, '[]'::jsonb)::text, a.suspended_at IS NOT NULL, ` + accounts.ResidenceColumns + `, ` + credentials.Columns + `
  FROM smtp_credentials k JOIN accounts a ON a.id = k.account_id ` + credentials.Joins + `
 WHERE k.hash = $1 AND k.revoked_at IS NULL`

func (s *Credentials) loadCredential(ctx context.Context, hash passwordHash) (credential, error) {
	found := credential{known: true}
	var domainIDs, mode string
	var by credentials.Row
	err := s.db.SQL.QueryRowContext(ctx, selectCredential, hash[:]).
		Scan(slices.Concat([]any{&found.id, &found.caller.AccountID, &mode, &domainIDs, &found.caller.Suspended},
			accounts.ScanResidence(&found.caller.Residence), by.ScanTargets())...)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return credential{}, nil
	case err != nil:
		return credential{}, err
	}
	switch smtpcredential.Mode(mode) {
	case smtpcredential.ModeLive:
	case smtpcredential.ModeTest:
		found.caller.AccountID, found.caller.TestAllowed = id.TestTenantOf(found.caller.AccountID), true
	default: // of a newer version
		return credential{}, nil
	}
	found.caller.Scope, found.caller.Creator = rights.ScopeSending, by.Creator()
	found.known = found.caller.Allows(rights.Send) // its creator may have lost the right in the meantime
	if err := json.Unmarshal([]byte(domainIDs), &found.caller.DomainIDs); err != nil {
		return credential{}, fmt.Errorf("domains of credential %s: %w", found.id, err)
	}
	return found, nil
}
