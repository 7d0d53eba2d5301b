package relay

import (
	"context"
	"log/slog"
	"sync"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts/credentials"
	"github.com/postrider/postrider/runtime/base/cache"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Signals notifies other processes of revocations.
type Signals interface {
	Wake(channel string)
	Subscribe(channel string) (<-chan struct{}, func())
}

// revokedChannel is notified when a credential is revoked.
const revokedChannel = "smtp credential revoked"

// CredentialsParams contains the parameters of NewCredentials.
type CredentialsParams struct {
	fx.In

	Config   Config
	DB       *db.DB
	Accounts Accounts
	Signals  Signals
	Cursors  *page.Codec
	Logger   *slog.Logger
	Workers  *worker.Metrics `optional:"true"`
}

// Credentials authenticates programs that submit mail, and creates and revokes their passwords. It is safe
// for concurrent use.
type Credentials struct {
	config   Config
	db       *db.DB
	accounts Accounts
	signals  Signals
	cursors  *page.Codec
	known    *cache.Cache[passwordHash, credential]
	used     *credentials.Recorder
	tasks    *worker.Tasks
	once     sync.Once
}

// NewCredentials returns new Credentials. Start starts the background work.
func NewCredentials(p CredentialsParams) (*Credentials, error) {
	known := cache.New(cache.Config[passwordHash, credential]{Max: 10_000, TTL: believedFor,
		LoadTimeout: lookupTimeout})
	return &Credentials{config: p.Config, db: p.DB, accounts: p.Accounts, signals: p.Signals, cursors: p.Cursors,
		known: known,
		used:  credentials.NewRecorder(p.DB.SQL, "smtp_credentials"), tasks: worker.NewTasks(p.Logger, p.Workers)}, nil
}

// Start starts writing last_used_at and listening for revocations by other processes.
func (s *Credentials) Start(context.Context) error {
	s.tasks.Start(
		worker.Every("last use of SMTP credentials", lastUsedInterval, s.used.Flush),
		worker.OnWake("revoked SMTP credentials", s.signals, revokedChannel, func(context.Context) error {
			s.Forget()
			return nil
		}),
	)
	return nil
}

// Forget drops all credentials from the cache of this process.
func (s *Credentials) Forget() { s.known.InvalidateAll() }

// Stop writes pending last_used_at values. The listeners must have stopped before.
func (s *Credentials) Stop(ctx context.Context) error {
	var err error
	s.once.Do(func() {
		s.tasks.Stop(ctx)
		err = s.used.Flush(ctx)
	})
	return err
}
