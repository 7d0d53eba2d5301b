package app

import (
	"context"
	"fmt"
	"log/slog"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/blob"
)

// newObjects creates the object store, or returns nil if none is configured. An unavailable store is logged
// and does not prevent the start: mail is still accepted and delivered without it.
func newObjects(lc fx.Lifecycle, cfg setting.Values, log *slog.Logger) (blob.Store, error) {
	if blob.StoreURL.Get(cfg).Bucket == "" {
		return nil, nil //nolint:nilnil // nil is valid: no store
	}
	store, err := blob.S3(blob.StoreURL.Get(cfg))
	if err != nil {
		return nil, fmt.Errorf("POSTRIDER_BLOBS: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	lc.Append(fx.StartStopHook(func() { go checkObjects(ctx, store, log) }, cancel))
	return store, nil
}

func checkObjects(ctx context.Context, store blob.Store, log *slog.Logger) {
	if err := store.Check(ctx); err != nil && ctx.Err() == nil {
		log.WarnContext(ctx,
			"POSTRIDER_BLOBS: object store unavailable; bodies due to move stay in the database until it responds",
			telemetry.KeyError, err)
	}
}
