package retention

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// Accounts lists the accounts and their retention periods, in id order.
type Accounts interface {
	Retentions(ctx context.Context, after string, limit int) ([]accounts.Retention, error)
}

// Mail stores sent email.
type Mail interface {
	ListExpired(ctx context.Context, accountID string, keep records.DetailLevel, after string, cutoff time.Time,
		limit int) (ids []string, last string, err error)
	ExpiredLate(ctx context.Context, accountID string, keep records.DetailLevel, cutoff time.Time,
		limit int) ([]string, error)
	PurgeBodies(ctx context.Context, accountID string, emailIDs []string) (int, error)
	Delete(ctx context.Context, accountID string, emailIDs []string) (int, error)
	Erase(ctx context.Context, accountID, address string) (records.Erasure, error)
}

// Inbox stores received email.
type Inbox interface {
	PurgeRecords(ctx context.Context, accountID string, cutoff time.Time, limit int) (int, error)
	PurgeContents(ctx context.Context, accountID, after string, cutoff time.Time,
		limit int) (purged int, last string, err error)
	Erase(ctx context.Context, accountID, address string) (emailIDs []string, err error)
}

// Follower stores data about emails that is deleted together with them.
type Follower interface {
	DeleteFor(ctx context.Context, accountID string, emailIDs []string) (int, error)
}

// Blocklist stores addresses that must not receive mail. Erasing an entry removes the address but keeps it
// blocked.
type Blocklist interface {
	Erase(ctx context.Context, accountID, address string) (int, error)
}

// Listeners stores webhook deliveries. Responses and test events may contain an address. emailIDs are the
// emails to the address that were deleted or redacted.
type Listeners interface {
	Erase(ctx context.Context, accountID, address string, emailIDs []string) error
}

// Facts stores the events published for an account.
type Facts interface {
	ForgetMentions(ctx context.Context, tx db.Execer, accountID, address string, types ...event.Type) (int64, error)
}

var (
	_ Accounts = (*accounts.Service)(nil)
	_ Mail     = (*records.Service)(nil)
	_ Inbox    = (*inbound.Service)(nil)
)

// Stores are the modules that store data. Disabled modules are nil.
type Stores struct {
	fx.In

	Mail      Mail
	Inbox     Inbox
	Follower  Follower
	Blocklist Blocklist
	Listeners Listeners
}

// Params contains the parameters of New.
type Params struct {
	fx.In

	DB       *db.DB
	Accounts Accounts
	Stores   Stores
	Kept     []module.PersonalData `group:"kept"` // data of other modules
	Facts    Facts
	Logger   *slog.Logger
	Workers  *worker.Metrics `optional:"true"`
}

// Service purges in the background and erases on demand.
type Service struct {
	stores Stores
	kept   []module.PersonalData

	db       *db.DB
	accounts Accounts
	facts    Facts
	log      *slog.Logger
	tasks    *worker.Tasks
}

// New returns a new Service. Start starts the purges.
func New(p Params) *Service {
	// Fx provides them in any order
	kept := slices.SortedFunc(slices.Values(p.Kept), func(a, b module.PersonalData) int {
		return cmp.Or(cmp.Compare(eraseOrder(a), eraseOrder(b)), strings.Compare(a.What, b.What))
	})
	return &Service{db: p.DB, accounts: p.Accounts, stores: p.Stores, kept: kept, facts: p.Facts, log: p.Logger,
		tasks: worker.NewTasks(p.Logger, p.Workers)}
}

// eraseOrder returns 0 for data that triggers actions, which is erased first.
func eraseOrder(kept module.PersonalData) int {
	if kept.Active {
		return 0
	}
	return 1
}

// firstRun delays the first purge, so that starts, even several in a row, do not trigger one immediately.
const (
	firstRun = 10 * time.Minute
	every    = time.Hour
)

// Start starts the hourly purge.
func (s *Service) Start(context.Context) error {
	s.tasks.Start(s.purgeTask())
	return nil
}

// purgeTask returns the task that purges. After a failure, such as a lock timeout, it retries soon.
func (s *Service) purgeTask() worker.Task {
	return worker.Task{Name: "purge of old mail", First: firstRun, Retry: worker.SoonRetry,
		Step: func(ctx context.Context) (time.Duration, error) { return every, s.runOnce(ctx) }}
}

// Stop interrupts a running purge. The next start continues it.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	return nil
}

// runOnce purges and logs the result. After a failure the next run continues where this one stopped.
func (s *Service) runOnce(ctx context.Context) error {
	done, err := s.Purge(ctx)
	switch {
	case err != nil:
		return err
	case done.Skipped:
		s.log.DebugContext(ctx, "another process is purging")
	default:
		s.log.InfoContext(ctx, "purged", "bodies", done.Bodies, "emails", done.Records, "received_contents",
			done.ReceivedContents, "received_emails", done.Received)
	}
	return nil
}
