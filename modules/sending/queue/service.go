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
	WakeFor(facts ...event.Fact) // where somebody wants one of them
}

// Service is the installation's queue. Who asks for a tenant names the account in each
// Selection, or asks QueueOf, BacklogOf and ChangeQueueOf.
type Service struct {
	db    *db.DB
	bus   Bus
	pages *page.Codec
}

// New makes the service; nothing runs. pages may be nil for a tool that asks for no pages.
func New(d *db.DB, b Bus, pages *page.Codec) *Service { return &Service{db: d, bus: b, pages: pages} }
