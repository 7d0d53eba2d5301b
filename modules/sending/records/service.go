package records

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/bodies"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

// Bus publishes facts inside a transaction, and changes those of emails that are deleted by
// age or erased.
type Bus interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
	Forget(ctx context.Context, tx db.Execer, accountID string, subjectIDs ...string) (int64, error)
	Rewrite(ctx context.Context, tx db.Execer, accountID string, subjectIDs []string, edit func(event.Fact) (json.RawMessage, error)) error
}

// Timeline reads the facts of subjects of one account, oldest first.
type Timeline interface {
	Facts(ctx context.Context, accountID string, subjectIDs ...string) (map[string][]event.Fact, error)
}

// Usage counts what was sent, and what waits.
type Usage interface {
	KeepUsage(ctx context.Context, tx db.Execer, accountID string, emailIDs ...string) error
	Refund(ctx context.Context, tx db.Execer, uses []accounts.Use) error
}

// Statistics counts what became of emails before they are deleted, or a part of what is known of them.
type Statistics interface {
	Keep(ctx context.Context, tx db.Execer, accountID string, emailIDs ...string) error
	Around(ctx context.Context, tx db.Execer, accountID string, emailIDs []string, change func() error) error
}

// Store has bodies that were moved out of the database. Its errors are of kind Away.
type Store interface {
	Texts(ctx context.Context, key string, size int64) (html, text *string, err error)
	Open(ctx context.Context, key string) (io.ReadCloser, error)
}

var _ Store = (*bodies.Service)(nil)

// Params is what the records need.
type Params struct {
	fx.In

	DB       *db.DB
	Bus      Bus
	Timeline Timeline
	Usage    Usage
	Budget   *intake.Budget // of relayed messages that are read
	Pages    *page.Codec

	Statistics Statistics // nil: they are off
	Store      Store      `optional:"true"` // nil: no body was ever moved
}

// Service reads, lists, counts and deletes what is kept of emails, and stores what becomes
// known of them after their delivery.
type Service struct {
	*Lists

	db       *db.DB
	bus      Bus
	timeline Timeline
	usage    Usage
	budget   *intake.Budget
	pages    *page.Codec
	counts   Statistics // nil: they are off
	store    Store
}

// New makes the service; nothing runs.
func New(p Params) (*Service, error) {
	if p.Budget == nil {
		return nil, errors.New("records: a budget is needed")
	}
	if p.Store == nil {
		p.Store = (*bodies.Service)(nil)
	}
	return &Service{Lists: NewLists(p.DB, p.Pages), store: p.Store, db: p.DB, bus: p.Bus, timeline: p.Timeline, usage: p.Usage, budget: p.Budget, pages: p.Pages, counts: p.Statistics}, nil
}
