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

// newObjects creates the object store, nil where there is none. A store that does not answer
// is told of and no reason not to start: mail goes in and out without it.
func newObjects(lc fx.Lifecycle, cfg setting.Values, log *slog.Logger) (blob.Store, error) {
	if blob.At.Of(cfg).Bucket == "" {
		return nil, nil //nolint:nilnil // the zero value says that there is none
	}
	store, err := blob.S3(blob.At.Of(cfg))
	if err != nil {
		return nil, fmt.Errorf("POSTRIDER_BLOBS: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	lc.Append(fx.StartStopHook(func() { go checkObjects(ctx, store, log) }, cancel))
	return store, nil
}

func checkObjects(ctx context.Context, store blob.Store, log *slog.Logger) {
	if err := store.Check(ctx); err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "POSTRIDER_BLOBS: the object store does not answer as it should; what is to move there stays in the database until it does", telemetry.KeyError, err)
	}
}
