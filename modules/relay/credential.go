package relay

import (
	"context"
	"fmt"
	"slices"
	"strings"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/account"
	"github.com/postrider/postrider/ent/smtpcredential"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/credentials"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

const maxDomainIDs = 100

// NewCredential is the input of Create.
type NewCredential struct {
	AccountID string
	Name      string
	Mode      smtpcredential.Mode // empty means live
	DomainIDs []string            // domains that it may send from; empty means all
	// MadeBy is the id of the API key that makes the request, whose domains the credential cannot exceed. It
	// is empty if the operator makes the request.
	MadeBy string
	// CreatedBy is the id of the user who creates the credential. It is empty if the operator or an API key
	// creates it. In the latter case, the credential inherits the key's creator.
	CreatedBy string
	// Keep, if not nil, stores the caller's response in the transaction that creates the credential. If it
	// fails, both are rolled back, and Create returns its error.
	Keep func(ctx context.Context, tx idempotency.Execer, made *ent.SMTPCredential, password secret.String) error
}

// Validate reports every invalid field.
func (in NewCredential) Validate() error {
	_, wrong := in.normalize()
	return wrong.Err()
}

func (in NewCredential) normalize() (NewCredential, fault.Fields) {
	wrong := fault.Fields{}
	if in.Name = accounts.CheckName(wrong, "name", in.Name); in.Name == "" && wrong["name"] == "" {
		wrong.Add("name", "is required")
	}
	if in.Mode == "" {
		in.Mode = smtpcredential.ModeLive
	}
	if err := smtpcredential.ModeValidator(in.Mode); err != nil {
		wrong.Add("mode", "must be one of live, test")
	}
	if len(in.DomainIDs) > maxDomainIDs {
		wrong.Add("domain_ids", "must have at most %d entries", maxDomainIDs)
	}
	for i, domainID := range in.DomainIDs {
		if !id.Is(id.Domain, domainID) {
			wrong.Add(fmt.Sprintf("domain_ids[%d]", i), "must be the id of a domain")
		}
	}
	return in, wrong
}

// Create creates a credential. Only its response contains the password.
func (s *Credentials) Create(ctx context.Context, in NewCredential) (*ent.SMTPCredential, secret.String, error) {
	in, wrong := in.normalize()
	s.accounts.CheckMode(wrong, string(in.Mode))
	if err := wrong.Err(); err != nil {
		return nil, secret.String{}, err
	}
	password, hash := newPassword(in.Mode)
	var made *ent.SMTPCredential
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		maker, err := in.checkBounds(ctx, tx)
		if err != nil {
			return err
		}
		if maker != nil && maker.CreatedBy != nil { // the creator's limits also apply to the new credential
			in.CreatedBy = *maker.CreatedBy
		}
		if made, err = insert(tx.SMTPCredential, in, hash).Save(ctx); err != nil || in.Keep == nil {
			return err
		}
		return in.Keep(ctx, tx, made, password)
	})
	if err != nil {
		return nil, secret.String{}, fmt.Errorf("create smtp credential: %w", err)
	}
	return made.Unwrap(), password, nil
}

// checkBounds checks the domains against the account and the API key that makes the request, and returns
// the key.
func (in NewCredential) checkBounds(ctx context.Context, tx *ent.Tx) (*ent.APIKey, error) {
	known, err := tx.Account.Query().Where(account.ID(in.AccountID)).Exist(ctx)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, fault.NoSuch("account", in.AccountID)
	}
	maker, owned, err := credentials.FindBounds(ctx, tx, in.AccountID, in.MadeBy, in.DomainIDs)
	if err != nil {
		return nil, err
	}
	var allowed []string
	if maker != nil {
		allowed = maker.DomainIds
	}
	return maker, boundDomains(in.DomainIDs, owned, allowed).Err()
}

// A key cannot create a credential with more domains than its own.
func boundDomains(asked, owned, allowed []string) fault.Fields {
	wrong := fault.Fields{}
	for i, domainID := range asked {
		switch {
		case !slices.Contains(owned, domainID):
			wrong.Add(fmt.Sprintf("domain_ids[%d]", i), "is not a domain of this account")
		case len(allowed) > 0 && !slices.Contains(allowed, domainID):
			wrong.Add(fmt.Sprintf("domain_ids[%d]", i),
				"is not a domain that the key making this request may send from")
		}
	}
	if len(allowed) > 0 && len(asked) == 0 {
		wrong.Add("domain_ids", "is required: the key making this request is limited to some domains")
	}
	return wrong
}

func insert(c *ent.SMTPCredentialClient, in NewCredential, hash []byte) *ent.SMTPCredentialCreate {
	create := c.Create().SetID(id.New(id.SMTPCredential)).SetAccountID(in.AccountID).SetName(in.Name).SetHash(hash).
		SetMode(in.Mode).SetDomainIds(in.DomainIDs)
	if in.CreatedBy != "" {
		create.SetCreatedBy(in.CreatedBy)
	}
	return create
}

// Ensure stores a password that already exists. It returns the account's credential with this password, or
// creates it. A revoked credential stays revoked.
func (s *Credentials) Ensure(ctx context.Context, accountID, name string,
	password secret.String) (*ent.SMTPCredential, error) {
	in, wrong := NewCredential{AccountID: accountID, Name: name}.normalize()
	if !strings.HasPrefix(password.Reveal(), PasswordPrefix) || len(password.Reveal()) < len(PasswordPrefix)+20 {
		wrong.Add("password", "must be %s followed by at least 20 characters", PasswordPrefix)
	} else if testPassword.MatchString(password.Reveal()) {
		wrong.Add("password", "cannot begin with %s%s, which is for test mode", PasswordPrefix, testTag)
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	hash := hashPassword(password.Reveal())
	find := func() (*ent.SMTPCredential, error) {
		return s.db.Ent.SMTPCredential.Query().Where(smtpcredential.Hash(hash)).Only(ctx)
	}
	found, err := find()
	if ent.IsNotFound(err) {
		found, err = insert(s.db.Ent.SMTPCredential, in, hash).Save(ctx)
	}
	if ent.IsConstraintError(err) { // another process created it first
		found, err = find()
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("ensure smtp credential: %w", err)
	case found.AccountID != accountID:
		return nil, fault.Conflictf(fault.CodeConflict, "This password already belongs to another account")
	}
	return found, nil
}

// IsWithin reports whether a credential is limited to a subset of the domains.
func (s *Credentials) IsWithin(ctx context.Context, accountID, credentialID string, domainIDs []string) (bool, error) {
	found, err := s.Get(ctx, accountID, credentialID)
	if err != nil {
		return false, err
	}
	return rights.IsSubset(found.DomainIds, domainIDs), nil
}

// Get returns one credential of the account.
func (s *Credentials) Get(ctx context.Context, accountID, credentialID string) (*ent.SMTPCredential, error) {
	found, err := s.db.Ent.SMTPCredential.Query().
		Where(smtpcredential.ID(credentialID), smtpcredential.AccountID(accountID)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("SMTP credential", credentialID)
	case err != nil:
		return nil, fmt.Errorf("smtp credential: %w", err)
	}
	return found, nil
}

// Revoke revokes a credential, including on open connections: immediately in this process, within a second in
// others. Revoking it again changes nothing.
func (s *Credentials) Revoke(ctx context.Context, accountID, credentialID string) (*ent.SMTPCredential, error) {
	err := s.db.Ent.SMTPCredential.Update().
		Where(smtpcredential.ID(credentialID), smtpcredential.AccountID(accountID), smtpcredential.RevokedAtIsNil()).
		Modify(func(u *entsql.UpdateBuilder) { u.Set(smtpcredential.FieldRevokedAt, entsql.Expr("now()")) }).Exec(ctx)
	if err != nil {
		return nil, fmt.Errorf("revoke smtp credential: %w", err)
	}
	found, err := s.Get(ctx, accountID, credentialID)
	if err != nil {
		return nil, err
	}
	s.known.Invalidate(passwordHash(found.Hash))
	s.signals.Wake(revokedChannel)
	return found, nil
}

// List returns one page of the account's credentials, newest first, revoked ones
// included. Error: Invalid.
func (s *Credentials) List(ctx context.Context, accountID string,
	r page.Request) (page.Page[*ent.SMTPCredential], error) {
	return s.ListFiltered(ctx, accountID, Filter{}, r)
}

// Filter narrows a list of credentials.
type Filter struct {
	Revoked *bool // nil means all
}

// ListFiltered returns one page of the account's credentials that match a filter.
func (s *Credentials) ListFiltered(ctx context.Context, accountID string, f Filter,
	r page.Request) (page.Page[*ent.SMTPCredential], error) {
	return page.ReadNewest(ctx, s.cursors, page.List{Name: "smtp_credentials", AccountID: accountID}, r,
		s.queryCredential(accountID, f),
		func(c *ent.SMTPCredential) string { return c.ID })
}

// Count returns the number of the account's credentials that match a filter, at most up to a limit.
func (s *Credentials) Count(ctx context.Context, accountID string, f Filter, most int) (int, error) {
	found, err := s.queryCredential(accountID, f).Limit(most).IDs(ctx)
	return len(found), err
}

func (s *Credentials) queryCredential(accountID string, f Filter) *ent.SMTPCredentialQuery {
	query := s.db.Ent.SMTPCredential.Query().Where(smtpcredential.AccountID(accountID))
	switch {
	case f.Revoked == nil:
	case *f.Revoked:
		query.Where(smtpcredential.RevokedAtNotNil())
	default:
		query.Where(smtpcredential.RevokedAtIsNil())
	}
	return query
}

// Endpoint returns how programs reach the relay: host, port, and starttls or implicit.
func (s *Credentials) Endpoint() (host string, port int, tls string) {
	return s.config.Host, s.config.Port, s.config.TLS
}
