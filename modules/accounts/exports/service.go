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

// Module gives *Service.
var Module = fx.Module("exports", fx.Provide(New))

const (
	every      = 20 * time.Second
	lasts      = 90 * time.Second // longer than every, a page and the slowest write together
	retryAfter = 10 * time.Second
	atOnce     = 4      // pages of exports that this process reads at a time: other work has connections left
	mostWait   = 10_000 // one for each export of this process
)

// ErrLost says that the turn has gone to another export.
var ErrLost = errors.New("exports: the turn has gone to another export")

// Service hands out turns. Safe for concurrent use, and in several processes.
type Service struct {
	db    *db.DB
	pages *limit.Semaphore
}

// New makes the service.
func New(d *db.DB) *Service { return &Service{d, limit.NewSemaphore(atOnce, mostWait)} }

// beginSQL takes the turn where none lasts. One that lasts for longer than any can was taken
// before the clock of the database went back; the minute is for transactions that began earlier.
const beginSQL = `
INSERT INTO exports AS e (account_id, turn, until) VALUES ($1, $2, now() + make_interval(secs => $3))
ON CONFLICT (account_id) DO UPDATE SET turn = EXCLUDED.turn, until = EXCLUDED.until WHERE e.until <= now() OR e.until > EXCLUDED.until + interval '1 minute'`

// Begin gives the account's turn, by which it is kept and ended. Errors: Limit while another export of
// the account is under way; Away.
func (s *Service) Begin(ctx context.Context, accountID string) (turn string, err error) {
	turn = id.New("turn")
	taken, err := db.Exec(ctx, s.db.SQL, beginSQL, accountID, turn, lasts.Seconds())
	switch {
	case err != nil:
		return "", fault.Wrap("begin an export", err)
	case taken == 0:
		return "", &fault.Error{Kind: fault.Limit, Code: fault.CodeExportInProgress, RetryAfter: retryAfter,
			Message: "Another export of this account is under way; wait until it is over, or end it"}
	}
	return turn, nil
}

// Every is how often a turn is to be kept. One that was not kept for a minute and a half goes to whoever
// asks next.
func (s *Service) Every() time.Duration { return every }

// Keep moves the end of a turn on. Error: ErrLost.
func (s *Service) Keep(ctx context.Context, accountID, turn string) error {
	kept, err := db.Exec(ctx, s.db.SQL, `UPDATE exports SET until = now() + make_interval(secs => $3) WHERE account_id = $1 AND turn = $2`,
		accountID, turn, lasts.Seconds())
	if err == nil && kept == 0 {
		err = ErrLost
	}
	return fault.Wrap("keep the turn of an export", err)
}

// End gives a turn back. One that was lost stays with whoever has it.
func (s *Service) End(ctx context.Context, accountID, turn string) error {
	_, err := db.Exec(ctx, s.db.SQL, `DELETE FROM exports WHERE account_id = $1 AND turn = $2`, accountID, turn)
	return fault.Wrap("end an export", err)
}

// Read reads one page, when few enough others of this process are being read.
func (s *Service) Read(ctx context.Context, read func() error) error { return s.pages.Do(ctx, read) }
