package retention

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/module"
)

// Accounts lists the accounts with what they keep, in the order of their ids.
type Accounts interface {
	Retentions(ctx context.Context, after string, limit int) ([]accounts.Retention, error)
}

// Mail is the store of what was sent.
type Mail interface {
	Expired(ctx context.Context, accountID string, keep records.Keep, after string, cutoff time.Time, limit int) (ids []string, last string, err error)
	ExpiredLate(ctx context.Context, accountID string, keep records.Keep, cutoff time.Time, limit int) ([]string, error)
	PurgeBodies(ctx context.Context, accountID string, emailIDs []string) (int, error)
	Delete(ctx context.Context, accountID string, emailIDs []string) (int, error)
	Erase(ctx context.Context, accountID, address string) (records.Erasure, error)
}

// Inbox is the store of what was received.
type Inbox interface {
	PurgeRecords(ctx context.Context, accountID string, cutoff time.Time, limit int) (int, error)
	PurgeContents(ctx context.Context, accountID, after string, cutoff time.Time, limit int) (purged int, last string, err error)
	Erase(ctx context.Context, accountID, address string) (emailIDs []string, err error)
}

// Follower keeps things about emails, which go when the emails do.
type Follower interface {
	DeleteFor(ctx context.Context, accountID string, emailIDs []string) (int, error)
}

// Blocklist keeps addresses that must not be written to. To erase one there is to
// forget the address and to go on blocking it.
type Blocklist interface {
	Erase(ctx context.Context, accountID, address string) (int, error)
}

// Listeners were told of what happened. What they answered, and test events, may name
// an address. emailIDs are the emails of the address that were deleted or redacted.
type Listeners interface {
	Erase(ctx context.Context, accountID, address string, emailIDs []string) error
}

// Facts are what was told of an account.
type Facts interface {
	ForgetMentions(ctx context.Context, tx db.Execer, accountID, address string, types ...event.Type) (int64, error)
}

var (
	_ Accounts = (*accounts.Service)(nil)
	_ Mail     = (*records.Service)(nil)
	_ Inbox    = (*inbound.Service)(nil)
)

// Neighbours are the modules that keep things. Those that are off are nil.
type Neighbours struct {
	fx.In

	Mail      Mail
	Inbox     Inbox
	Follower  Follower
	Blocklist Blocklist
	Listeners Listeners
}

// Params of New.
type Params struct {
	fx.In

	DB         *db.DB
	Accounts   Accounts
	Neighbours Neighbours
	Kept       []module.Kept `group:"kept"` // by other modules
	Facts      Facts
	Logger     *slog.Logger
}

// Service purges in the background and erases on demand.
type Service struct {
	near Neighbours
	kept []module.Kept

	db       *db.DB
	accounts Accounts
	facts    Facts
	log      *slog.Logger
	stop     func()
	once     sync.Once
}

// New makes the service; nothing runs before Start.
func New(p Params) *Service {
	return &Service{db: p.DB, accounts: p.Accounts, near: p.Neighbours, kept: p.Kept, facts: p.Facts, log: p.Logger}
}

// firstRun keeps a start from being followed by deleting at once, and restarts in a
// row from doing it again and again.
const (
	firstRun = 10 * time.Minute
	every    = time.Hour
)

// Start begins to purge, every hour. The context only bounds the start.
func (s *Service) Start(ctx context.Context) error {
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stopped := make(chan struct{})
	s.stop = func() { cancel(); <-stopped }
	go func() {
		defer close(stopped)
		timer := time.NewTimer(firstRun)
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
				s.runOnce(run)
				timer.Reset(every)
			case <-run.Done():
				return
			}
		}
	}()
	return nil
}

// Stop ends after the step that runs.
func (s *Service) Stop(context.Context) error {
	s.once.Do(func() {
		if s.stop != nil {
			s.stop()
		}
	})
	return nil
}

// runOnce purges; a failure is logged, and the next run goes on where it was.
func (s *Service) runOnce(ctx context.Context) {
	done, err := s.Purge(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		s.log.ErrorContext(ctx, "purge ended early; it goes on in the next hour", "error", err)
	case err == nil && done.Skipped:
		s.log.DebugContext(ctx, "another process purges")
	case err == nil:
		s.log.InfoContext(ctx, "purged", "bodies", done.Bodies, "emails", done.Records, "received_contents", done.ReceivedContents, "received_emails", done.Received)
	}
}
