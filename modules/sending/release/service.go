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
	"github.com/postrider/postrider/runtime/work/hold"
)

// Accounts tells who an account is and what its plan allows.
type Accounts interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
}

// Domains tells under which identity an account may write as an address.
type Domains interface {
	Identity(ctx context.Context, accountID string, from address.Address) (domains.Identity, error)
}

// Suppression tells who must not be written to.
type Suppression interface {
	Blocked(ctx context.Context, tx db.Execer, list []suppression.Address) ([]suppression.Block, error)
}

// Quota takes back what the caps have counted.
type Quota interface {
	Refund(ctx context.Context, tx db.Execer, uses []accounts.Use) error
}

// Bus publishes facts inside a transaction and wakes their consumers after it.
type Bus interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
	Wake()
}

// Signals wakes the delivering processes after a commit.
type Signals interface {
	Wake(channel string)
}

// Holder tells whether the whole installation is held.
type Holder interface {
	CurrentHold() *hold.Hold
}

// Config sets what this process does.
type Config struct {
	AcceptOnly bool // scheduled emails are left to other processes
}

// Params is what releasing needs.
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
	Holder      Holder `optional:"true"` // nil: never held
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
	idle        bool // this process leaves it to others
	tasks       *worker.Tasks
}

// senders are asked about the account and the From address of an email.
type senders struct {
	accounts Accounts
	domains  Domains
}

// New makes the service; nothing runs before Start.
func New(p Params) *Service {
	return &Service{db: p.DB, bus: p.Bus, senders: senders{p.Accounts, p.Domains}, suppression: p.Suppression, quota: p.Quota, signals: p.Signals,
		holder: p.Holder, logger: p.Logger, idle: p.Config.AcceptOnly, tasks: worker.NewTasks(p.Logger, p.Workers)}
}

// Start begins to release, unless this process only accepts.
func (s *Service) Start(context.Context) error {
	if !s.idle {
		s.tasks.Start(s.releasing())
	}
	return nil
}

// Stop lets a release that has begun end until ctx does.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	return nil
}
