package accounts

import (
	"context"
	"fmt"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/account"
	"github.com/postrider/postrider/ent/membership"
	"github.com/postrider/postrider/ent/plan"
	"github.com/postrider/postrider/ent/user"
	"github.com/postrider/postrider/modules/accounts/naming"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/db"
)

// NewAccount is the input of CreateAccount.
type NewAccount struct {
	Name               string
	Email              string // email of the account and of its owner
	Plan               string // empty: the free plan
	OwnerName          string
	ProductionUnlocked bool
	Unmetered          bool
}

// Validate reports every wrong field.
func (in NewAccount) Validate() error {
	_, wrong := in.normalize()
	return wrong.Err()
}

func (in NewAccount) normalize() (NewAccount, fault.Fields) {
	wrong := fault.Fields{}
	in.Name = checkName(wrong, "name", in.Name, true)
	in.OwnerName = checkName(wrong, "owner_name", in.OwnerName, false)
	in.Email = CheckEmail(wrong, "email", in.Email)
	if in.Plan == "" {
		in.Plan = PlanFree
	}
	return in, wrong
}

// CheckEmail returns an email address of a person as it is stored: without a display name, in lower case,
// with A-labels.
func CheckEmail(wrong fault.Fields, field, email string) string {
	parsed, err := address.Parse(email)
	switch {
	case err != nil:
		wrong.Add(field, "%s", err)
	case parsed.Name != "":
		wrong.Add(field, "must be a bare address without a display name")
	default:
		return strings.ToLower(parsed.AddrSpec())
	}
	return email
}

// CheckName trims the name of a person or team. A name must fit on one line and cannot contain a link.
func CheckName(wrong fault.Fields, field, name string) string {
	return checkName(wrong, field, name, false)
}

func checkName(wrong fault.Fields, field, name string, required bool) string {
	name = strings.TrimSpace(name)
	if name == "" && required {
		wrong.Add(field, "is required")
	} else if err := naming.Check(name); err != nil {
		wrong.Add(field, "%s", err)
	}
	return name
}

// Account is a snapshot of an account, at most CacheTTL old.
type Account struct {
	ID                 string
	Name               string
	Email              string
	Plan               Plan
	ProductionUnlocked bool // by the operator
	PaymentMethod      bool // on file
	Unmetered          bool
	Suspended          bool
	Residence          Residence
	SecondFactor       bool // required of every member
	System             bool // sends the installation's own mail; exempt from caps and the sandbox
	MonthlyLimit       *int // emails per month that the account has set as its own limit; nil if unlimited
	PaymentDue         bool // a payment is overdue

	StoredBytes, DailyBytes *int // caps set by the operator; they override the plan's

	BodyRetentionDays, RecordRetentionDays int
}

// IsUnlocked reports whether the account may write to recipients other than itself. senderVerified is whether
// the sender is on a verified domain of the account. A sandboxed plan requires such a domain and a payment
// method on file; an unlock by the operator replaces both.
func (a Account) IsUnlocked(senderVerified bool) bool {
	return !a.Plan.Sandboxed || a.ProductionUnlocked || a.PaymentMethod && senderVerified
}

// CreateAccount creates an account and its owner in one transaction. If a user already has the email, that
// user becomes the owner.
func (s *Service) CreateAccount(ctx context.Context, in NewAccount) (*ent.Account, error) {
	return s.CreateAccountWith(ctx, in, nil)
}

// DefaultPlan returns the plan of new accounts.
func (s *Service) DefaultPlan() string { return s.config.DefaultPlan }

// CreateAccountWith is CreateAccount with a function, which may be nil, that runs in the transaction.
func (s *Service) CreateAccountWith(ctx context.Context, in NewAccount,
	with func(tx *ent.Tx, made *ent.Account) error) (*ent.Account, error) {
	in, wrong := in.normalize()
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	var made *ent.Account
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		owner, err := EnsureUser(ctx, tx, in.Email, in.OwnerName)
		if err == nil {
			made, err = insertAccount(ctx, tx, in, owner.ID)
		}
		if err != nil || with == nil {
			return err
		}
		return with(tx, made)
	})
	if err != nil {
		return nil, fmt.Errorf("create account: %w", err)
	}
	return made.Unwrap(), nil
}

// CreateAccountIn is CreateAccount within a transaction, for an existing user.
func (s *Service) CreateAccountIn(ctx context.Context, tx *ent.Tx, in NewAccount,
	ownerID string) (*ent.Account, error) {
	in, wrong := in.normalize()
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	return insertAccount(ctx, tx, in, ownerID)
}

func insertAccount(ctx context.Context, tx *ent.Tx, in NewAccount, ownerID string) (*ent.Account, error) {
	known, err := tx.Plan.Query().Where(plan.ID(in.Plan)).Exist(ctx)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, fault.InvalidField("plan", "%q is not a plan of this installation", in.Plan)
	}
	made, err := tx.Account.Create().SetID(id.New(id.Account)).SetName(in.Name).SetEmail(in.Email).SetPlanID(in.Plan).
		SetProductionUnlocked(in.ProductionUnlocked).SetUnmetered(in.Unmetered).Save(ctx)
	if err != nil {
		return nil, err
	}
	return made, tx.Membership.Create().SetAccountID(made.ID).SetUserID(ownerID).SetRole(membership.RoleOwner).Exec(ctx)
}

// EnsureUser returns the user with an email address, which must be in its stored form. It creates the user if
// necessary.
func EnsureUser(ctx context.Context, tx *ent.Tx, email, name string) (*ent.User, error) {
	// Concurrent calls for one email wait for each other, so the second finds the user that the first
	// created.
	if err := lockEmail(ctx, tx, email); err != nil {
		return nil, err
	}
	found, err := tx.User.Query().Where(user.Email(email)).Only(ctx)
	if !ent.IsNotFound(err) {
		return found, err
	}
	return tx.User.Create().SetID(id.New(id.User)).SetEmail(email).SetName(name).Save(ctx)
}

// Language returns the preferred mail language of the person with an address, or "" if the person or the
// language is unknown.
func (s *Service) Language(ctx context.Context, email string) (string, error) {
	found, err := db.All(ctx, s.db.SQL, db.Value[string], `SELECT language FROM users WHERE email = $1`, email)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

func lockEmail(ctx context.Context, tx *ent.Tx, email string) error {
	_, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('accounts/email/' || $1, 0))`, email)
	return err
}

// EnsureAccount returns the oldest account with the email unchanged, or creates it like CreateAccount. It is
// safe to call from several processes at the same time.
func (s *Service) EnsureAccount(ctx context.Context, in NewAccount) (found *ent.Account, err error) {
	in, wrong := in.normalize()
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := lockEmail(ctx, tx, in.Email); err != nil {
			return err
		}
		found, err = tx.Account.Query().Where(account.Email(in.Email), account.System(false)).
			Order(ent.Asc(account.FieldID)).First(ctx)
		if !ent.IsNotFound(err) {
			return err
		}
		owner, err := EnsureUser(ctx, tx, in.Email, in.OwnerName)
		if err == nil {
			found, err = insertAccount(ctx, tx, in, owner.ID)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("ensure account: %w", err)
	}
	return found.Unwrap(), nil
}

// systemEmail is the email of the account that sends the installation's own mail. It has no mailbox.
const systemEmail = "system@postrider.invalid"

// EnsureSystem returns the id of the account that sends the installation's own mail, and creates the account
// if necessary. The account has no members and no keys, is not listed, and is exempt from caps and the
// sandbox.
func (s *Service) EnsureSystem(ctx context.Context) (accountID string, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := lockEmail(ctx, tx, systemEmail); err != nil {
			return err
		}
		accountID, err = tx.Account.Query().Where(account.System(true)).OnlyID(ctx)
		if !ent.IsNotFound(err) {
			return err
		}
		accountID = id.New(id.Account)
		return tx.Account.Create().SetID(accountID).SetName("Postrider").SetEmail(systemEmail).SetPlanID(PlanScale).
			SetProductionUnlocked(true).
			SetUnmetered(true).SetSystem(true).SetBodyRetentionDays(1).SetRecordRetentionDays(systemRetention).Exec(ctx)
	})
	if err != nil {
		return "", fmt.Errorf("system account: %w", err)
	}
	return accountID, nil
}

const systemRetention = 30 // days for which records of the installation's own mail are kept

// AccountByEmail returns the account with an email, for the command line and development mode. Errors:
// NotFound; Conflict if several accounts have the email.
func (s *Service) AccountByEmail(ctx context.Context, email string) (*ent.Account, error) {
	found, err := s.db.Ent.Account.Query().Where(account.Email(strings.ToLower(strings.TrimSpace(email))),
		account.System(false)).
		Order(ent.Asc(account.FieldID)).Limit(maxSameEmail).All(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("account by email: %w", err)
	case len(found) == 0:
		return nil, fault.NoSuch("account", email)
	case len(found) > 1:
		ids := make([]string, len(found))
		for i, a := range found {
			ids[i] = a.ID
		}
		return nil, fault.Conflictf(fault.CodeConflict,
			"Several accounts have the email %s; use one of these ids: %s", email, strings.Join(ids, ", "))
	}
	return found[0], nil
}

const maxSameEmail = 20 // accounts named in the error

// Account returns the account with its plan, at most CacheTTL old. For a test tenant, it returns the account that the
// tenant belongs to with the limits of test mode.
func (s *Service) Account(ctx context.Context, accountID string) (Account, error) {
	return s.accounts.Get(ctx, accountID, s.loadAccount)
}

func (s *Service) loadAccount(ctx context.Context, accountID string) (Account, error) {
	row, err := s.accountRow(ctx, id.HomeAccount(accountID))
	if err != nil {
		return Account{}, err
	}
	return tenantOf(accountOf(row), accountID), nil
}

// maxFreeTeams is the number of accounts on a sandboxed plan that one person may own.
const maxFreeTeams = 5

// maxTeams is the number of accounts that one person may own, unless that person is an operator.
const maxTeams = 50

// CheckTeamLimit returns a Conflict if a person already owns as many accounts as they may, on sandboxed plans or
// in total. The caller must hold a lock on the row of the user.
func (s *Service) CheckTeamLimit(ctx context.Context, tx *ent.Tx, userID string) error {
	all, err := tx.Membership.Query().Where(membership.UserID(userID), membership.RoleEQ(membership.RoleOwner),
		membership.HasUserWith(user.Operator(false))).Count(ctx)
	switch {
	case err != nil:
		return err
	case all >= maxTeams:
		return fault.Conflictf(fault.CodeConflict, "You own %d teams, which is the most that one person may own",
			maxTeams)
	}
	free, err := tx.Plan.Query().Where(plan.ID(s.config.DefaultPlan), plan.Sandboxed(true)).Exist(ctx)
	if err != nil || !free {
		return err
	}
	n, err := tx.Membership.Query().Where(membership.UserID(userID), membership.RoleEQ(membership.RoleOwner),
		membership.HasAccountWith(account.HasPlanWith(plan.Sandboxed(true)))).Count(ctx)
	if err == nil && n >= maxFreeTeams {
		err = fault.Conflictf(fault.CodeConflict,
			"You own %d teams on a free plan, which is the most that one person may own", maxFreeTeams)
	}
	return err
}

// CreateTeam creates an account on the default plan for a person, within a transaction.
func (s *Service) CreateTeam(ctx context.Context, tx *ent.Tx, email, name, ownerID string) (*ent.Account, error) {
	return s.CreateAccountIn(ctx, tx, NewAccount{Name: name, Email: email, Plan: s.config.DefaultPlan}, ownerID)
}

// EnsureOwnedTeam makes a person the owner of the oldest account that has their email, or of a new account, within a
// transaction.
func (s *Service) EnsureOwnedTeam(ctx context.Context, tx *ent.Tx, email, name, userID string) error {
	found, err := tx.Account.Query().Where(account.Email(email), account.System(false)).Order(ent.Asc(account.FieldID)).
		First(ctx)
	if ent.IsNotFound(err) {
		_, err = s.CreateTeam(ctx, tx, email, name, userID)
		return err
	}
	if err != nil {
		return err
	}
	known, err := tx.Membership.Update().Where(membership.AccountID(found.ID), membership.UserID(userID)).
		SetRole(membership.RoleOwner).Save(ctx)
	if err != nil || known > 0 {
		return err
	}
	return tx.Membership.Create().SetAccountID(found.ID).SetUserID(userID).SetRole(membership.RoleOwner).Exec(ctx)
}
