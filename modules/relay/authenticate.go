package relay

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/secret"
)

const (
	// believedFor is how long an open connection goes on without asking again.
	believedFor   = time.Second
	lookupTimeout = 5 * time.Second
)

// passwordHash is what is kept of a password, here too.
type passwordHash [sha256.Size]byte

// credential is what the database said of a hash, also that it knows none.
type credential struct {
	id      string
	caller  accounts.Caller
	known   bool // exists and is not revoked
	askedAt time.Time
}

// authenticate looks a password up in the database, always: a new connection never
// lives from what was true before. The time it takes tells nothing of the user name or
// of the password's form.
func (s *Service) authenticate(ctx context.Context, username, password string) (passwordHash, credential, error) {
	hash := passwordHash(secret.HashToken(password))
	named := subtle.ConstantTimeCompare([]byte(username), []byte(Username)) == 1
	found, err := s.load(ctx, hash)
	if err != nil {
		return hash, credential{}, fmt.Errorf("authenticate: %w", err)
	}
	s.known.Set(hash, found)
	if !found.known || !named {
		return hash, credential{}, fault.Unauthenticated()
	}
	s.used.Mark(found.id)
	return hash, found, nil
}

// again asks whether a credential that signed in still holds.
func (s *Service) again(ctx context.Context, hash passwordHash) (credential, error) {
	found, err := s.known.Get(ctx, hash, otter.LoaderFunc[passwordHash, credential](s.load))
	switch {
	case err != nil:
		return credential{}, fmt.Errorf("authenticate again: %w", err)
	case !found.known:
		return credential{}, fault.Unauthenticated()
	}
	return found, nil
}

const selectCredential = `
SELECT c.id, c.account_id, coalesce(c.domain_ids, '[]'::jsonb)::text, a.suspended_at IS NOT NULL
  FROM smtp_credentials c JOIN accounts a ON a.id = c.account_id
 WHERE c.hash = $1 AND c.revoked_at IS NULL`

func (s *Service) load(ctx context.Context, hash passwordHash) (credential, error) {
	// Others wait for this answer, so it must not end with the first of them.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTimeout)
	defer cancel()
	found := credential{known: true, askedAt: time.Now()}
	var domainIDs string
	err := s.db.SQL.QueryRowContext(ctx, selectCredential, hash[:]).Scan(&found.id, &found.caller.AccountID, &domainIDs, &found.caller.Suspended)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return credential{askedAt: found.askedAt}, nil
	case err != nil:
		return credential{}, err
	}
	found.caller.Scope = accounts.ScopeSending
	if err := json.Unmarshal([]byte(domainIDs), &found.caller.DomainIDs); err != nil {
		return credential{}, fmt.Errorf("domains of credential %s: %w", found.id, err)
	}
	return found, nil
}
