package templates

import (
	"log/slog"
	"sync/atomic"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/base/cache"
	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Params are the dependencies of New.
type Params struct {
	fx.In

	DB      *db.DB
	Cursors *page.Codec
	Logger  *slog.Logger
}

// Service manages and renders templates. It is safe for concurrent use.
type Service struct {
	db      *db.DB
	cursors *page.Codec
	log     *slog.Logger

	lookups    *cache.Cache[lookupKey, lookup]
	versions   *cache.Cache[publishedVersion, compiledContent]
	uses       []UseFinder
	epoch      atomic.Int64     // counts the changes made by this process
	publishing *limit.Semaphore // limits concurrent CSS inlining, which is pure CPU work
	images     *cache.Cache[string, ImageFile]
	opening    *limit.Semaphore // limits the images that are read from the database
}

// New returns a new service. It does not need to be started.
func New(p Params) *Service {
	return &Service{db: p.DB, cursors: p.Cursors, log: p.Logger, publishing: limit.NewSemaphore(2, limit.Unbounded),
		uses:    []UseFinder{usesOfComponent},
		lookups: cache.New(cache.Config[lookupKey, lookup]{Max: 50_000, TTL: CacheTTL}),
		versions: cache.New(cache.Config[publishedVersion, compiledContent]{Max: cacheWeight, TTL: time.Hour,
			Sliding: true,
			Weigh:   func(_ publishedVersion, c compiledContent) int { return c.weight() }}),
		images: cache.New(cache.Config[string, ImageFile]{Max: imageCache, TTL: ImageTTL,
			Weigh: func(_ string, f ImageFile) int { return 500 + len(f.Content) }}),
		opening: limit.NewSemaphore(4, 1000)}
}
