package domains

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/ent/domainclaim"
	"github.com/postrider/postrider/ent/predicate"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/event"
)

// ClaimStatus is the status of a claim.
type ClaimStatus string

// The statuses of a claim.
const (
	ClaimPending   ClaimStatus = "pending"
	ClaimCompleted ClaimStatus = "completed"
	ClaimExpired   ClaimStatus = "expired"
)

// claimLife is how long a claim can be verified, by the database clock. maxClaims is the maximum number of
// open claims per account.
const (
	claimLife = 7 * 24 * time.Hour
	maxClaims = 100
)

// Claim is an account's request to take over a domain that another account has verified.
type Claim struct {
	ID     string
	Name   string // A-labels
	Status ClaimStatus
	// The record that proves control. Its Status, Found and Error come from the latest lookup, if there was one.
	Record        dnscheck.RecordCheck
	ExpiresAt     time.Time
	CreatedAt     time.Time
	LastCheckedAt *time.Time
	CompletedAt   *time.Time
}

// claims moves domains to accounts that prove control of them.
type claims struct {
	db      *db.DB
	bus     publisher
	names   names
	checker dnscheck.Checker
	keys    *signing.Ring
	lookups *lookups
	cursors *page.Codec
	log     *slog.Logger
	key     []byte // key for tokens
}

// StartClaim starts a claim, or returns the account's open claim for the name. keep is the counterpart of
// StoreDomainResponse for claims. It returns Conflict if no other account has verified the name.
func (s *claims) StartClaim(ctx context.Context, accountID, input string,
	keep func(ctx context.Context, tx idempotency.Execer, c Claim) error) (Claim, error) {
	account, name, err := s.names.parseRequest(ctx, accountID, input)
	if err != nil {
		return Claim{}, err
	}
	var started *ent.DomainClaim
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		// Serialized with Add for this account, because both count toward the limit of its plan.
		if err := lockAccount(ctx, tx, accountID); err != nil {
			return err
		}
		if started, err = s.openClaim(ctx, tx, account, name); err != nil || keep == nil {
			return err
		}
		return keep(ctx, tx, toClaim(started, started.CreatedAt))
	})
	if err != nil {
		return Claim{}, fmt.Errorf("start claim: %w", err)
	}
	s.bus.Wake()
	return toClaim(started, started.CreatedAt), nil
}

// openClaim returns the open claim for a name, or creates a new one.
func (s *claims) openClaim(ctx context.Context, tx *ent.Tx, account accounts.Account,
	name string) (*ent.DomainClaim, error) {
	found, err := tx.DomainClaim.Query().Where(domainclaim.AccountID(account.ID), domainclaim.Name(name), whereOpen()).
		First(ctx)
	switch {
	case err == nil:
		return found.Unwrap(), nil
	case !ent.IsNotFound(err):
		return nil, err
	}
	if err := mayClaim(ctx, tx, account, name); err != nil {
		return nil, err
	}
	return s.insertClaim(ctx, tx, account.ID, name)
}

func (s *claims) insertClaim(ctx context.Context, tx *ent.Tx, accountID, name string) (*ent.DomainClaim, error) {
	token, err := s.claimToken(ctx, tx.DomainClaim, accountID, name)
	if err != nil {
		return nil, err
	}
	made := id.New(id.Claim)
	_, err = tx.ExecContext(ctx,
		`INSERT INTO domain_claims (id, account_id, name, token, created_at, expires_at) VALUES ($1, $2, $3, $4, now(), now() + make_interval(secs => $5))`,
		made, accountID, name, token, claimLife.Seconds())
	if err != nil {
		return nil, err
	}
	c, err := tx.DomainClaim.Get(ctx, made)
	if err != nil {
		return nil, err
	}
	return c.Unwrap(), s.bus.Publish(ctx, tx, event.New(accountID, event.DomainClaimStarted, c.CreatedAt,
		event.DomainClaim{ClaimID: made, Name: name, ExpiresAt: event.NewTime(c.ExpiresAt)}))
}

// mayClaim rejects a claim that is unnecessary or could not complete.
func mayClaim(ctx context.Context, tx *ent.Tx, account accounts.Account, name string) error {
	owner, err := tx.Domain.Query().Where(domain.Name(name), whereOwned()).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return fault.Conflictf(fault.CodeConflict,
			"No other account has verified %s: add and verify it; a claim is not required", name)
	case err != nil:
		return err
	case owner.AccountID != nil && *owner.AccountID == account.ID:
		return fault.Conflictf(fault.CodeConflict, "This account has already verified the domain %s", name)
	}
	n, err := tx.DomainClaim.Query().Where(domainclaim.AccountID(account.ID), whereOpen()).Count(ctx)
	switch {
	case err != nil:
		return err
	case n >= maxClaims:
		return fault.Conflictf(fault.CodeConflict,
			"This account has %d open claims: complete them first, or wait until they expire", n)
	}
	return checkPlanLimit(ctx, tx, account, name)
}

// checkPlanLimit returns plan_limit if the name would exceed the plan's number of domains.
func checkPlanLimit(ctx context.Context, tx *ent.Tx, account accounts.Account, name string) error {
	others, err := tx.Domain.Query().Where(domain.AccountID(account.ID), domain.NameNEQ(name)).Count(ctx)
	switch {
	case err != nil:
		return err
	case !account.Plan.AllowsDomains(others + 1):
		return planLimit(account.Plan)
	}
	return nil
}

// GetClaim returns a claim of the account.
func (s *claims) GetClaim(ctx context.Context, accountID, claimID string) (Claim, error) {
	found, now, err := s.findClaim(ctx, accountID, claimID)
	if err != nil {
		return Claim{}, err
	}
	return toClaim(found, now), nil
}

func (s *claims) findClaim(ctx context.Context, accountID, claimID string) (*ent.DomainClaim, time.Time, error) {
	if !id.Is(id.Claim, claimID) {
		return nil, time.Time{}, fault.NoSuch("claim", claimID)
	}
	found, err := s.db.Ent.DomainClaim.Query().Where(domainclaim.AccountID(accountID), domainclaim.ID(claimID)).
		Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, time.Time{}, fault.NoSuch("claim", claimID)
	case err != nil:
		return nil, time.Time{}, fmt.Errorf("get claim: %w", err)
	}
	now, err := s.clock(ctx)
	return found, now, err
}

// ListClaims returns one page of the account's claims, newest first. Error: Invalid.
func (s *claims) ListClaims(ctx context.Context, accountID string, r page.Request) (page.Page[Claim], error) {
	found, err := page.ReadNewest(ctx, s.cursors, page.List{Name: "domain claims", AccountID: accountID}, r,
		s.db.Ent.DomainClaim.Query().Where(domainclaim.AccountID(accountID)),
		func(row *ent.DomainClaim) string { return row.ID })
	if err != nil {
		return page.Page[Claim]{}, err
	}
	now, err := s.clock(ctx)
	if err != nil {
		return page.Page[Claim]{}, err
	}
	return page.Map(found, func(row *ent.DomainClaim) Claim { return toClaim(row, now) }), nil
}

// clock returns the time of the database, which decides whether a claim has expired.
func (s *claims) clock(ctx context.Context) (now time.Time, err error) {
	if err := s.db.SQL.QueryRowContext(ctx, `SELECT now()`).Scan(&now); err != nil {
		return now, fmt.Errorf("read database clock: %w", err)
	}
	return now, nil
}

func toClaim(c *ent.DomainClaim, now time.Time) Claim {
	out := Claim{ID: c.ID, Name: c.Name, Status: ClaimStatus(c.Status), Record: dnscheck.Proof(c.Name, c.Token),
		ExpiresAt: c.ExpiresAt, CreatedAt: c.CreatedAt, LastCheckedAt: c.LastCheckedAt, CompletedAt: c.CompletedAt}
	if out.Status == ClaimPending && !now.Before(c.ExpiresAt) {
		out.Status = ClaimExpired
	}
	if out.Status == ClaimCompleted {
		out.Record.Status = dnscheck.Verified
	}
	return out
}

// refuseClaimed rejects a name that another account has verified, with instructions for proving control of
// it. The token depends on the calling account, so no other account can use these instructions.
func (s *claims) refuseClaimed(ctx context.Context, accountID, name string) error {
	token, err := s.claimToken(ctx, s.db.Ent.DomainClaim, accountID, name)
	if err != nil {
		return err
	}
	record := dnscheck.Proof(name, token)
	return fault.Conflictf(fault.CodeDomainClaimed, "The domain %s is verified by another account", name).
		With("claim", map[string]any{
			"type":  record.Type,
			"name":  record.Name,
			"value": record.Value,
			"start": map[string]any{"method": "POST", "path": "/domains/claims", "body": map[string]any{"name": name}},
			"how": fmt.Sprintf("If you control %s, start a claim with POST /domains/claims {\"name\": %q}, publish this TXT record without removing existing ones, "+
				"then POST /domains/claims/{id}/verify.", name, name),
		})
}

// claimToken returns the required value of the TXT record for the current or next claim of the account. Every
// claim that ends changes this value, because a leftover record does not prove control of the name later.
func (s *claims) claimToken(ctx context.Context, c *ent.DomainClaimClient, accountID, name string) (string, error) {
	ended, err := c.Query().Where(domainclaim.AccountID(accountID), domainclaim.Name(name),
		domainclaim.Not(whereOpen())).
		Count(ctx)
	if err != nil {
		return "", fmt.Errorf("count claims: %w", err)
	}
	mac := hmac.New(sha256.New, s.key)
	fmt.Fprintf(mac, "%s\x00%s\x00%d", accountID, name, ended)
	return "postrider-claim=" + hex.EncodeToString(mac.Sum(nil)[:20]), nil
}

// whereOpen selects claims that can be verified, by the database clock.
func whereOpen() predicate.DomainClaim {
	return domainclaim.And(domainclaim.StatusEQ(domainclaim.StatusPending), whereNotExpired)
}
