package domains

import (
	"context"
	"crypto"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/cache"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/storage/db"
)

// SigningIdentity is the identity that signs an email.
type SigningIdentity struct {
	DomainID string
	Domain   string        // A-labels
	Selector string        // selector of the RSA key
	Key      crypto.Signer // RSA
	Second   *SecondKey    // nil if messages carry one signature
	Sandbox  bool          // the installation's shared domain
	Failing  bool          // its DNS records are broken; it will stop sending unless they are fixed
	TLSMode  string        // opportunistic, enforced

	OpenTracking, ClickTracking bool
}

// SecondKey is the Ed25519 key of a domain that signs with both algorithms (RFC 8463).
type SecondKey struct {
	Selector string
	Key      crypto.Signer
}

// Signers returns the signers of the identity, RSA first.
func (i SigningIdentity) Signers() []dkim.Signer {
	signers := []dkim.Signer{{Domain: i.Domain, Selector: i.Selector, Key: i.Key}}
	if i.Second != nil {
		signers = append(signers, dkim.Signer{Domain: i.Domain, Selector: i.Second.Selector, Key: i.Second.Key})
	}
	return signers
}

type identityKey struct{ accountID, name string }

// sender is a cached result for a name, possibly a name that cannot send.
type sender struct {
	identity SigningIdentity
	status   domain.Status // empty if the account has no such domain
}

const (
	identityTTL   = 10 * time.Second // maximum time until changes of another process are visible
	refusalTTL    = time.Second      // how long a negative result is cached
	lookupTimeout = 5 * time.Second
)

// CanSend reports whether a domain with this status can send.
func CanSend(status domain.Status) bool {
	return status == domain.StatusVerified || status == domain.StatusTemporaryFailure
}

// ttl returns how long the result is cached. Negative results expire soon, so that an account can send right
// after it has verified a domain.
func (s sender) ttl() time.Duration {
	if CanSend(s.status) {
		return identityTTL
	}
	return refusalTTL
}

// lookups caches results for a few seconds: the identities that sign, and the accounts that receive.
type lookups struct {
	db         *db.DB
	keys       *signing.Ring
	sandbox    string // the sandbox domain, which every account may use
	identities *cache.Cache[identityKey, sender]
	receivers  *cache.Cache[string, receipt]
}

const maxLookups = 50_000 // entries per cache

func newLookups(d *db.DB, keys *signing.Ring, sandbox string) *lookups {
	return &lookups{db: d, keys: keys, sandbox: sandbox,
		identities: cache.New(cache.Config[identityKey, sender]{Max: maxLookups, TTLOf: sender.ttl,
			LoadTimeout: lookupTimeout}),
		receivers: cache.New(cache.Config[string, receipt]{Max: maxLookups, TTLOf: receipt.ttl,
			LoadTimeout: lookupTimeout})}
}

// Identity returns the identity that signs mail from the address, or domain_not_verified. Every account may
// use the sandbox domain. Test mode sends from the same domains.
func (l *lookups) Identity(ctx context.Context, accountID string, from address.Address) (SigningIdentity, error) {
	key := identityKey{accountID: id.HomeAccount(accountID), name: from.Domain}
	if from.Domain == l.sandbox {
		key.accountID = "" // one row for all accounts
	}
	found, err := l.identities.Get(ctx, key, l.loadSender)
	if err != nil {
		return SigningIdentity{}, fmt.Errorf("identity: %w", err)
	}
	if !CanSend(found.status) {
		return SigningIdentity{}, errCannotSend(from.Domain, found.status)
	}
	return found.identity, nil
}

func errCannotSend(name string, status domain.Status) *fault.Error {
	name = address.ReadableDomain(name)
	switch status {
	case domain.StatusPending:
		return fault.Forbiddenf(fault.CodeDomainNotVerified,
			"The domain %s is not verified yet: publish its DNS records and verify it", name)
	case domain.StatusFailed:
		return fault.Forbiddenf(fault.CodeDomainNotVerified,
			"The domain %s is no longer verified: its DNS records are broken, or another account proved control "+
				"of it. "+
				"Check the advice for its records, then verify it again", name)
	default:
		return fault.Forbiddenf(fault.CodeDomainNotVerified,
			"The domain %s is not a domain of this account: add it and verify it", name)
	}
}

func (l *lookups) loadSender(ctx context.Context, key identityKey) (sender, error) {
	var answer sender
	owner := domain.AccountID(key.accountID)
	if key.accountID == "" {
		owner = domain.AccountIDIsNil()
	}
	row, err := l.db.Ent.Domain.Query().Where(owner, domain.Name(key.name)).WithKeys(signing.LoadActiveKeys).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return answer, nil
	case err != nil:
		return sender{}, err
	}
	answer.status = row.Status
	if !CanSend(row.Status) {
		return answer, nil
	}
	answer.identity = SigningIdentity{DomainID: row.ID, Domain: row.Name, Sandbox: row.AccountID == nil,
		Failing:      row.Status == domain.StatusTemporaryFailure,
		TLSMode:      string(row.TLSMode),
		OpenTracking: row.OpenTracking, ClickTracking: row.ClickTracking}
	return answer, l.loadKeys(ctx, row, &answer.identity)
}

// loadKeys loads the signing keys. A domain without its own key cannot send, because no other key may sign
// for it.
func (l *lookups) loadKeys(ctx context.Context, d *ent.Domain, i *SigningIdentity) error {
	for _, k := range d.Edges.Keys {
		if k.Algorithm == dkimkey.AlgorithmEd25519Sha256 && !dnscheck.Ready(d, k) {
			continue // its record was removed: an invalid second signature has no benefit
		}
		signer, err := l.keys.Signer(ctx, k)
		switch {
		case err != nil:
			return err
		case k.Algorithm == dkimkey.AlgorithmEd25519Sha256:
			i.Second = &SecondKey{Selector: k.Selector, Key: signer}
		default:
			i.Selector, i.Key = k.Selector, signer
		}
	}
	if i.Key == nil {
		return fmt.Errorf("domain %s has no active key", d.ID)
	}
	return nil
}

// forget removes the cached answers for a name.
func (l *lookups) forget(accountID, name string) {
	l.identities.Invalidate(identityKey{accountID: accountID, name: name})
	l.receivers.Invalidate(name)
}
