package exports

import (
	"context"
	"errors"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Module provides *Service.
var Module = fx.Module("exports", fx.Provide(New))

const (
	extendInterval = 20 * time.Second
	turnDuration   = 90 * time.Second // longer than every, the read of a page and the slowest write combined
	retryAfter     = 10 * time.Second
	maxConcurrent  = 4      // pages of exports that may be read concurrently; leaves connections for other work
	maxWaiting     = 10_000 // queue length: one waiting page for each export of this process
)

// ErrLost reports that another export has taken over the turn.
var ErrLost = errors.New("exports: another export has taken over the turn")

// Service grants turns. It is safe for concurrent use, including across processes.
type Service struct {
	db    *db.DB
	pages *limit.Semaphore
}

// New returns a new Service.
func New(d *db.DB) *Service { return &Service{d, limit.NewSemaphore(maxConcurrent, maxWaiting)} }

// beginSQL takes the turn if no other turn is current. A turn that ends later than any new one could end
// dates from before the database clock was set back. The extra minute allows for transactions that began
// earlier.
const beginSQL = `
INSERT INTO exports AS e (account_id, turn, until) VALUES ($1, $2, now() + make_interval(secs => $3))
ON CONFLICT (account_id) DO UPDATE SET turn = EXCLUDED.turn, until = EXCLUDED.until WHERE e.until <= now() OR e.until > EXCLUDED.until + interval '1 minute'`

// Begin acquires the account's turn and returns its id. Errors: Limit while another export of the account is
// running; Unavailable.
func (s *Service) Begin(ctx context.Context, accountID string) (turn string, err error) {
	turn = id.New("turn")
	taken, err := db.Exec(ctx, s.db.SQL, beginSQL, accountID, turn, turnDuration.Seconds())
	switch {
	case err != nil:
		return "", fault.Wrap("begin an export", err)
	case taken == 0:
		return "", &fault.Error{Kind: fault.Limit, Code: fault.CodeExportInProgress, RetryAfter: retryAfter,
			Message: "Another export of this account is running: wait until it finishes, or cancel it"}
	}
	return turn, nil
}

// ExtendInterval returns the interval at which a turn must be extended. After 90 seconds without an extension, the
// next export can take the turn.
func (s *Service) ExtendInterval() time.Duration { return extendInterval }

// Extend extends a turn. Error: ErrLost.
func (s *Service) Extend(ctx context.Context, accountID, turn string) error {
	kept, err := db.Exec(ctx, s.db.SQL, `UPDATE exports SET until = now() + make_interval(secs => $3) WHERE account_id = $1 AND turn = $2`,
		accountID, turn, turnDuration.Seconds())
	if err == nil && kept == 0 {
		err = ErrLost
	}
	return fault.Wrap("extend the turn of an export", err)
}

// End releases a turn. It has no effect if another export has taken over the turn.
func (s *Service) End(ctx context.Context, accountID, turn string) error {
	_, err := db.Exec(ctx, s.db.SQL, `DELETE FROM exports WHERE account_id = $1 AND turn = $2`, accountID, turn)
	return fault.Wrap("end an export", err)
}

// Read reads one page. It waits while the maximum number of pages is being read in this process.
func (s *Service) Read(ctx context.Context, read func() error) error { return s.pages.Do(ctx, read) }
