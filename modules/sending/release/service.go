package release

import (
	"context"
	"log/slog"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
	"github.com/postrider/postrider/runtime/work/node"
)

// Accounts looks up an account and the limits of its plan.
type Accounts interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
}

// Domains looks up the identity under which an account may send from an address.
type Domains interface {
	Identity(ctx context.Context, accountID string, from address.Address) (domains.SigningIdentity, error)
}

// Suppression looks up addresses that must not receive mail.
type Suppression interface {
	FindBlocks(ctx context.Context, tx db.Execer, list []suppression.MessageRecipient) ([]suppression.Block, error)
}

// Quota refunds messages that counted against the caps.
type Quota interface {
	Refund(ctx context.Context, tx db.Execer, uses []accounts.EmailUsage) error
}

// Bus publishes facts inside a transaction and wakes their consumers after it.
type Bus interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
	Wake()
}

// Signals wakes the delivery processes after a commit.
type Signals interface {
	Wake(channel string)
}

// Holder reports whether the whole installation is held.
type Holder interface {
	CurrentHold() *node.Hold
}

// Config is the role of this process.
type Config struct {
	AcceptOnly bool // other processes release scheduled emails
}

// Params are the dependencies of Service.
type Params struct {
	fx.In

	Config      Config
	DB          *db.DB
	Bus         Bus
	Accounts    Accounts
	Domains     Domains
	Suppression Suppression
	Quota       Quota
	Signals     Signals
	Holder      Holder `optional:"true"` // nil if the installation is never held
	Logger      *slog.Logger
	Workers     *worker.Metrics `optional:"true"`
}

// Service releases scheduled emails.
type Service struct {
	db          *db.DB
	bus         Bus
	senders     senders
	suppression Suppression
	quota       Quota
	signals     Signals
	holder      Holder
	logger      *slog.Logger
	idle        bool // this process releases nothing
	tasks       *worker.Tasks
}

// senders looks up the account and the sender identity of an email.
type senders struct {
	accounts Accounts
	domains  Domains
}

// New returns a new Service. Nothing runs until Start.
func New(p Params) *Service {
	return &Service{db: p.DB, bus: p.Bus, senders: senders{p.Accounts, p.Domains}, suppression: p.Suppression,
		quota: p.Quota, signals: p.Signals,
		holder: p.Holder, logger: p.Logger, idle: p.Config.AcceptOnly, tasks: worker.NewTasks(p.Logger, p.Workers)}
}

// Start starts releasing, unless this process only accepts.
func (s *Service) Start(context.Context) error {
	if !s.idle {
		s.tasks.Start(s.releaseTask())
	}
	return nil
}

// Stop waits until ctx ends for a release in progress.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	return nil
}
