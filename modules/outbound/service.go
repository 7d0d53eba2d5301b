package outbound

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Accounts tells what plan an account has.
type Accounts interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
	Find(ctx context.Context, emailOrID string) (*ent.Account, error)
}

// Domains tells what domains an account has.
type Domains interface {
	Find(ctx context.Context, accountID, nameOrID string) (*ent.Domain, error)
}

// configChannel is woken when smarthosts or sources were changed.
const configChannel = "outbound"

// Params of New.
type Params struct {
	fx.In

	DB       *db.DB
	Accounts Accounts
	Domains  Domains
	Box      *secret.Box
}

// Service keeps what the operator sets up, sources and smarthosts, and reports on TLS. Safe for concurrent use.
type Service struct {
	db       *db.DB
	accounts Accounts
	domains  Domains
	box      *secret.Box
}

// New makes the service.
func New(p Params) *Service {
	return &Service{db: p.DB, accounts: p.Accounts, domains: p.Domains, box: p.Box}
}
