package outbound

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Accounts looks up the plan of an account.
type Accounts interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
	Find(ctx context.Context, emailOrID string) (*ent.Account, error)
}

// Domains looks up the domains of an account.
type Domains interface {
	Find(ctx context.Context, accountID, nameOrID string) (*ent.Domain, error)
}

// configChannel is notified when smarthosts or sources change.
const configChannel = "outbound"

// Params contains the parameters of New.
type Params struct {
	fx.In

	DB       *db.DB
	Accounts Accounts
	Domains  Domains
	Box      *secret.Box
}

// Service manages the operator's sources and smarthosts, and returns TLS reports. It is safe for concurrent
// use.
type Service struct {
	db       *db.DB
	accounts Accounts
	domains  Domains
	box      *secret.Box
}

// New returns a new Service.
func New(p Params) *Service {
	return &Service{db: p.DB, accounts: p.Accounts, domains: p.Domains, box: p.Box}
}
