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
	Kept       []module.PersonalData `group:"kept"` // by other modules
	Facts      Facts
	Logger     *slog.Logger
	Workers    *worker.Metrics `optional:"true"`
}

// Service purges in the background and erases on demand.
type Service struct {
	near Neighbours
	kept []module.PersonalData

	db       *db.DB
	accounts Accounts
	facts    Facts
	log      *slog.Logger
	tasks    *worker.Tasks
}

// New makes the service; nothing runs before Start.
func New(p Params) *Service {
	kept := slices.SortedFunc(slices.Values(p.Kept), func(a, b module.PersonalData) int { // Fx gives them in any order
		return cmp.Or(cmp.Compare(eraseOrder(a), eraseOrder(b)), strings.Compare(a.What, b.What))
	})
	return &Service{db: p.DB, accounts: p.Accounts, near: p.Neighbours, kept: kept, facts: p.Facts, log: p.Logger, tasks: worker.NewTasks(p.Logger, p.Workers)}
}

// eraseOrder is 0 for what acts by itself, which is erased first.
func eraseOrder(kept module.PersonalData) int {
	if kept.Active {
		return 0
	}
	return 1
}

// firstRun keeps a start from being followed by deleting at once, and restarts in a
// row from doing it again and again.
const (
	firstRun = 10 * time.Minute
	every    = time.Hour
)

// Start begins to purge, every hour.
func (s *Service) Start(context.Context) error {
	s.tasks.Start(worker.Task{Name: "purge of old mail", First: firstRun, Step: func(ctx context.Context) (time.Duration, error) { return every, s.runOnce(ctx) }})
	return nil
}

// Stop cuts the purge that runs; the next start goes on.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	return nil
}

// runOnce purges and logs what went. After a failure the next run goes on where it was.
func (s *Service) runOnce(ctx context.Context) error {
	done, err := s.Purge(ctx)
	switch {
	case err != nil:
		return err
	case done.Skipped:
		s.log.DebugContext(ctx, "another process purges")
	default:
		s.log.InfoContext(ctx, "purged", "bodies", done.Bodies, "emails", done.Records, "received_contents", done.ReceivedContents, "received_emails", done.Received)
	}
	return nil
}
