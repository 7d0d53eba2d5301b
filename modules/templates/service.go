package templates

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/cache"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/page"
)

// Params of New.
type Params struct {
	fx.In

	DB      *db.DB
	Cursors *page.Codec
	Logger  *slog.Logger
}

// Service answers for templates. Safe for concurrent use.
type Service struct {
	db      *db.DB
	cursors *page.Codec
	log     *slog.Logger

	lookups    cache.Cache[lookup, published]
	versions   cache.Cache[published, compiled]
	epoch      atomic.Int64  // counts what this process has changed
	publishing chan struct{} // bounds the inlining of CSS, which is pure CPU
}

// New makes the service. Nothing of it has to be started.
func New(p Params) (*Service, error) {
	s := &Service{db: p.DB, cursors: p.Cursors, log: p.Logger, publishing: make(chan struct{}, 2)}
	var err error
	s.lookups, err = otter.New(&otter.Options[lookup, published]{MaximumSize: 50_000,
		ExpiryCalculator: otter.ExpiryWriting[lookup, published](CacheTTL)})
	if err != nil {
		return nil, err
	}
	s.versions, err = otter.New(&otter.Options[published, compiled]{MaximumWeight: cacheWeight,
		Weigher: func(_ published, c compiled) uint32 { return c.weight() }, ExpiryCalculator: otter.ExpiryAccessing[published, compiled](time.Hour)})
	return s, err
}

// Stop ends what the caches run in the background.
func (s *Service) Stop() {
	s.lookups.StopAllGoroutines()
	s.versions.StopAllGoroutines()
}
