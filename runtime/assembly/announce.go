package assembly

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/postrider/postrider/runtime/assembly/development"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/setting"
	"github.com/postrider/postrider/runtime/store"
)

// announce makes the installation's own domain, which every mode has, and says that the
// service is ready. Development mode says more.
func announce(ctx context.Context, cfg setting.Values, o Options, opened *store.Store, seeds development.Seeder, log *slog.Logger) error {
	if seeds.Domains != nil {
		if _, err := seeds.Domains.EnsureSandbox(ctx); err != nil {
			return fmt.Errorf("sandbox domain: %w", err)
		}
	}
	if cfg.Mode != setting.Dev {
		log.InfoContext(ctx, "ready", "base_url", config.BaseURL.Of(cfg))
		return nil
	}
	return seeds.Announce(ctx, cfg, opened, development.Readers{File: o.ReadyFile, Called: o.OnReady, Out: o.Out})
}
