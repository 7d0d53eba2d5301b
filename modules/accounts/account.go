package accounts

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/account"
	"github.com/postrider/postrider/ent/plan"
	"github.com/postrider/postrider/ent/user"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/mail/address"
)

const maxName = 200

// NewAccount is the input of CreateAccount.
type NewAccount struct {
	Name               string
	Email              string // of the account and of its owner
	Plan               string // free when empty
	OwnerName          string
	ProductionUnlocked bool
	Unmetered          bool
}

// Validate reports every wrong field.
func (in NewAccount) Validate() error {
	_, wrong := in.normalized()
	return wrong.Err()
}

func (in NewAccount) normalized() (NewAccount, fault.Fields) {
	wrong := fault.Fields{}
	in.Name = checkName(wrong, "name", in.Name, true)
	in.OwnerName = checkName(wrong, "owner_name", in.OwnerName, false)
	if parsed, err := address.Parse(in.Email); err != nil {
		wrong.Add("email", "%s", err)
	} else if parsed.Name != "" {
		wrong.Add("email", "must be a bare address without a display name")
	} else {
		in.Email = strings.ToLower(parsed.AddrSpec())
	}
	if in.Plan == "" {
		in.Plan = PlanFree
	}
	return in, wrong
}

// checkName trims a name for people and refuses what cannot be shown on a line.
func checkName(wrong fault.Fields, field, name string, required bool) string {
	name = strings.TrimSpace(name)
	switch {
	case name == "" && required:
		wrong.Add(field, "is required")
	case len(name) > maxName:
		wrong.Add(field, "is longer than %d octets", maxName)
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		wrong.Add(field, "must not contain control characters")
	}
	return name
}

// Account is a snapshot, at most CacheTTL old.
type Account struct {
	ID                 string
	Name               string
	Email              string
	Plan               Plan
	ProductionUnlocked bool // by the operator
	PaymentMethod      bool // on file
	Unmetered          bool
	Suspended          bool

	BodyRetentionDays, RecordRetentionDays int
}

// Unlocked tells whether the account may write to others than itself from a
// sender that is, or is not, on a verified domain of its own. A free plan needs
// that domain and a payment method on file; the operator's word stands for both.
func (a Account) Unlocked(senderVerified bool) bool {
	return !a.Plan.Sandboxed || a.ProductionUnlocked || a.PaymentMethod && senderVerified
}

type snapshot struct {
	Account
	askedAt time.Time
}

// CreateAccount makes an account and its owner in one transaction.
func (s *Service) CreateAccount(ctx context.Context, in NewAccount) (*ent.Account, error) {
	in, wrong := in.normalized()
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	var made *ent.Account
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		known, err := tx.Plan.Query().Where(plan.ID(in.Plan)).Exist(ctx)
		if err != nil {
			return err
		}
		if !known {
			return fault.InvalidField("plan", "%q is not a plan of this installation", in.Plan)
		}
		made, err = tx.Account.Create().SetID(id.New(id.Account)).SetName(in.Name).SetEmail(in.Email).SetPlanID(in.Plan).
			SetProductionUnlocked(in.ProductionUnlocked).SetUnmetered(in.Unmetered).Save(ctx)
		if err != nil {
			return err
		}
		return tx.User.Create().SetID(id.New(id.User)).SetAccountID(made.ID).SetEmail(in.Email).SetName(in.OwnerName).
			SetRole(user.RoleOwner).Exec(ctx)
	})
	switch {
	case ent.IsConstraintError(err):
		return nil, fault.Conflictf(fault.CodeConflict, "There is already an account with the email %s", in.Email).Because(err)
	case err != nil:
		return nil, fmt.Errorf("create account: %w", err)
	}
	return made.Unwrap(), nil
}

// EnsureAccount is CreateAccount for what must exist: the account that already
// has the email is returned as it is. Safe against a second process.
func (s *Service) EnsureAccount(ctx context.Context, in NewAccount) (*ent.Account, error) {
	in, wrong := in.normalized()
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	found, err := s.AccountByEmail(ctx, in.Email)
	if fault.KindOf(err) != fault.NotFound {
		return found, err
	}
	made, err := s.CreateAccount(ctx, in)
	if err != nil && fault.KindOf(err) == fault.Conflict {
		return s.AccountByEmail(ctx, in.Email)
	}
	return made, err
}

// AccountByEmail finds an account, for the command line and development mode.
func (s *Service) AccountByEmail(ctx context.Context, email string) (*ent.Account, error) {
	found, err := s.db.Ent.Account.Query().Where(account.Email(strings.ToLower(strings.TrimSpace(email)))).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.Missing("account", email)
	case err != nil:
		return nil, fmt.Errorf("account by email: %w", err)
	}
	return found, nil
}

// Account gives the account with its plan, at most CacheTTL old.
func (s *Service) Account(ctx context.Context, accountID string) (Account, error) {
	found, err := s.accounts.Get(ctx, accountID, otter.LoaderFunc[string, snapshot](s.loadAccount))
	return found.Account, err
}

func (s *Service) loadAccount(ctx context.Context, accountID string) (snapshot, error) {
	askedAt := time.Now()
	// Others wait for this answer, so it must not end with the first caller.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTimeout)
	defer cancel()
	row, err := s.accountRow(ctx, accountID)
	if err != nil {
		return snapshot{}, err
	}
	return snapshot{askedAt: askedAt, Account: accountOf(row)}, nil
}
