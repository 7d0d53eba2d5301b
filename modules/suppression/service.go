package suppression

import (
	"context"
	"log/slog"
	"strings"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

// Bus publishes facts inside a transaction and wakes their consumers after it.
type Bus interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
	Wake()
}

// Params contains the parameters of New.
type Params struct {
	fx.In

	Config  Config
	DB      *db.DB
	Bus     Bus
	Box     *secret.Box
	Origins *origins.Service `optional:"true"` // nil: no account has moved
	Cursors *page.Codec
	Logger  *slog.Logger
	Workers *worker.Metrics `optional:"true"`
}

// Service manages suppressions and opt-outs. It is safe for concurrent use.
type Service struct {
	db      *db.DB
	bus     Bus
	cursors *page.Codec
	log     *slog.Logger
	hashes  hasher
	links   linker
	origins *origins.Service

	tasks *worker.Tasks // the pass that rehashes rows
}

// New returns a new Service.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	return &Service{db: p.DB, bus: p.Bus, cursors: p.Cursors, log: p.Logger, origins: p.Origins,
		tasks:  worker.NewTasks(p.Logger, p.Workers),
		hashes: hasher{keys: p.Box.DeriveEach("suppression addresses"), mailboxes: p.Config.Mailboxes},
		links:  linker{base: strings.TrimSuffix(p.Config.BaseURL, "/"), keys: p.Box.DeriveEach(linkPurpose)},
	}, nil
}
