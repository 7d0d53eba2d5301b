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

// Bus publishes facts inside a transaction, and rewrites or removes those of emails that are deleted or
// erased.
type Bus interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
	Forget(ctx context.Context, tx db.Execer, accountID string, subjectIDs ...string) (int64, error)
	Rewrite(ctx context.Context, tx db.Execer, accountID string, subjectIDs []string,
		edit func(event.Fact) (json.RawMessage, error)) error
}

// Timeline reads the facts of subjects of one account, oldest first.
type Timeline interface {
	Facts(ctx context.Context, accountID string, subjectIDs ...string) (map[string][]event.Fact, error)
}

// Usage counts sent and scheduled mail.
type Usage interface {
	KeepUsage(ctx context.Context, tx db.Execer, accountID string, emailIDs ...string) error
	Refund(ctx context.Context, tx db.Execer, uses []accounts.EmailUsage) error
}

// Statistics counts outcomes of emails before they are deleted or redacted.
type Statistics interface {
	Keep(ctx context.Context, tx db.Execer, accountID string, emailIDs ...string) error
	PreserveCounts(ctx context.Context, tx db.Execer, accountID string, emailIDs []string, change func() error) error
}

// Store reads bodies that were moved out of the database. Its errors are of kind Unavailable.
type Store interface {
	Texts(ctx context.Context, key string, size int64) (html, text *string, err error)
	Open(ctx context.Context, key string) (io.ReadCloser, error)
}

var _ Store = (*bodies.Service)(nil)

// Params are the dependencies of Service.
type Params struct {
	fx.In

	DB       *db.DB
	Bus      Bus
	Timeline Timeline
	Usage    Usage
	Budget   *intake.Budget // for reading relayed messages
	Pages    *page.Codec

	Statistics Statistics // nil if disabled
	Store      Store      `optional:"true"` // nil if no body was ever moved
}

// Service reads, lists, counts and deletes stored emails, and stores later reports about them.
type Service struct {
	*Lists

	db       *db.DB
	bus      Bus
	timeline Timeline
	usage    Usage
	budget   *intake.Budget
	pages    *page.Codec
	counts   Statistics // nil if disabled
	store    Store
}

// New returns a new Service; nothing runs in the background.
func New(p Params) (*Service, error) {
	if p.Budget == nil {
		return nil, errors.New("records: Budget is required")
	}
	if p.Store == nil {
		p.Store = (*bodies.Service)(nil)
	}
	return &Service{Lists: NewLists(p.DB, p.Pages), store: p.Store, db: p.DB, bus: p.Bus, timeline: p.Timeline,
		usage: p.Usage, budget: p.Budget, pages: p.Pages, counts: p.Statistics}, nil
}
