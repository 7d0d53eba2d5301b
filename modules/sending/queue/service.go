package queue

import (
	"context"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

// Bus publishes facts inside a transaction and wakes their consumers after it.
type Bus interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
	WakeFor(facts ...event.Fact) // only where a consumer wants one of them
}

// Service is the installation's queue. A caller that acts for an account sets the account in each Selection,
// or uses QueueOf, BacklogOf and ChangeQueueOf.
type Service struct {
	db    *db.DB
	bus   Bus
	pages *page.Codec
}

// New returns a new Service. pages may be nil for a tool that does not page.
func New(d *db.DB, b Bus, pages *page.Codec) *Service { return &Service{db: d, bus: b, pages: pages} }
