package assembly

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/queue"
	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/config"
)

// The operations of `postrider queue`.
const (
	QueueRetry   = "retry"
	QueueHold    = "hold"
	QueueRelease = "release"
	QueueDrop    = "drop"
)

// QueueSelection names recipients in the queue of the whole installation.
type QueueSelection struct {
	Destination, EmailID, State string
	Account                     string // its email or its id
	RecipientIDs                []int64
	All                         bool
}

// QueueChange is what the operations take.
type QueueChange struct {
	Operation string
	Selection QueueSelection
	DryRun    bool
	Reason    string // of a drop
	Progress  func(done, of int)
}

// QueueResult is what an operation prints.
type QueueResult struct {
	Matched int  `json:"matched"`
	Changed int  `json:"changed"`
	DryRun  bool `json:"dry_run"`
}

// QueuedView is a recipient in the queue as `postrider queue list` prints it.
type QueuedView struct {
	RecipientID   int64      `json:"recipient_id"`
	EmailID       string     `json:"email_id"`
	AccountID     string     `json:"account_id"`
	Address       string     `json:"address"`
	State         string     `json:"state"`
	Running       bool       `json:"running"`
	Lane          string     `json:"lane,omitempty"`
	Attempts      int        `json:"attempts"`
	NextAttemptAt *time.Time `json:"next_attempt_at"`
	QueuedAt      time.Time  `json:"queued_at"`
	AgeSeconds    int64      `json:"age_seconds"`
	Diagnostic    string     `json:"diagnostic"`
}

// BacklogView is what waits for a destination as `postrider queue summary` prints it.
type BacklogView struct {
	Destination      string `json:"destination"`
	Total            int    `json:"total"`
	Due              int    `json:"due"`
	Running          int    `json:"running"`
	Parked           int    `json:"parked"` // waiting for room in a lane
	Deferred         int    `json:"deferred"`
	Held             int    `json:"held"`
	OldestAgeSeconds int64  `json:"oldest_age_seconds"`
	Diagnostic       string `json:"diagnostic"`
}

// ListQueue gives recipients in the queue, the oldest first.
func ListQueue(ctx context.Context, cfg config.Config, in QueueSelection, after int64, limit int) ([]QueuedView, error) {
	list := []QueuedView{}
	err := withQueue(ctx, cfg, in, func(q *queue.Service, s queue.Selection) error {
		found, err := q.List(ctx, s, after, limit)
		for _, r := range found {
			view := QueuedView{RecipientID: r.RecipientID, EmailID: r.EmailID, AccountID: r.AccountID, Address: r.Address, State: string(r.State), Running: r.Running,
				Lane: r.Lane, Attempts: r.Attempts, QueuedAt: r.QueuedAt.UTC(), AgeSeconds: int64(r.Age.Seconds()), Diagnostic: r.Diagnostic}
			if r.NextAttempt != nil {
				at := r.NextAttempt.UTC()
				view.NextAttemptAt = &at
			}
			list = append(list, view)
		}
		return err
	})
	return list, err
}

// SumUpQueue gives what waits by destination, most first.
func SumUpQueue(ctx context.Context, cfg config.Config, in QueueSelection, limit int) ([]BacklogView, error) {
	list := []BacklogView{}
	err := withQueue(ctx, cfg, in, func(q *queue.Service, s queue.Selection) error {
		found, err := q.Summary(ctx, s, limit)
		for _, b := range found {
			list = append(list, BacklogView{Destination: b.Destination, Total: b.Total(), Due: b.Due, Running: b.Running, Parked: b.Parked, Deferred: b.Deferred,
				Held: b.Held, OldestAgeSeconds: int64(b.Oldest.Seconds()), Diagnostic: b.Diagnostic})
		}
		return err
	})
	return list, err
}

// ChangeQueue runs one operation. Services see what became due within their poll
// interval, a second.
func ChangeQueue(ctx context.Context, cfg config.Config, in QueueChange) (result QueueResult, err error) {
	err = withQueue(ctx, cfg, in.Selection, func(q *queue.Service, s queue.Selection) error {
		change := queue.Change{Selection: s, DryRun: in.DryRun, Progress: in.Progress}
		var done queue.Result
		switch in.Operation {
		case QueueRetry:
			done, err = q.Retry(ctx, change)
		case QueueHold:
			done, err = q.Hold(ctx, change)
		case QueueRelease:
			done, err = q.Release(ctx, change)
		case QueueDrop:
			done, err = q.Drop(ctx, change, in.Reason)
		default:
			err = fmt.Errorf("no such operation: %s", in.Operation)
		}
		result = QueueResult{Matched: done.Matched, Changed: done.Changed, DryRun: in.DryRun}
		return err
	})
	return result, err
}

func withQueue(ctx context.Context, cfg config.Config, in QueueSelection, do func(*queue.Service, queue.Selection) error) error {
	return tool(ctx, cfg, func(ctx context.Context, s *store, log *slog.Logger) error {
		selection := queue.Selection{Destination: in.Destination, EmailID: in.EmailID, State: queue.State(in.State), RecipientIDs: in.RecipientIDs, All: in.All}
		if in.Account != "" {
			service, err := accounts.New(accounts.Params{DB: s.db, Logger: log, Cursors: newPages(s.box)})
			if err != nil {
				return err
			}
			account, err := service.Find(ctx, in.Account)
			if err != nil {
				return err
			}
			selection.AccountID = account.ID
		}
		return do(queue.New(s.db, bus.New(s.db, log, bus.Options{}), nil), selection)
	})
}
