package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/postgres"
)

// ErrNotRunning is returned if the embedded database does not exist, or no service runs it.
var ErrNotRunning = errors.New("no service is running here")

const peekLimit = 10 * time.Second

// Peek opens the configured database without changes: it starts no server, and creates or migrates nothing.
// The error is ErrNotRunning for an embedded database that no service runs.
func Peek(ctx context.Context, cfg setting.Values) (*db.DB, error) {
	url := config.DatabaseURL.Get(cfg).Reveal()
	if config.IsEmbedded(cfg) {
		if !HoldsData(config.DataDir.Get(cfg)) {
			return nil, fmt.Errorf("%s has no database: %w", config.DataDir.Get(cfg), ErrNotRunning)
		}
		found, err := postgres.Find(config.DataDir.Get(cfg))
		if errors.Is(err, postgres.ErrNotReady) {
			return nil, fmt.Errorf("the database in %s is stopped: %w", config.DataDir.Get(cfg), ErrNotRunning)
		}
		if err != nil {
			return nil, err
		}
		url = found
	}
	ctx, cancel := context.WithTimeout(ctx, peekLimit)
	defer cancel()
	return db.Open(ctx, databaseConfig(cfg, url), slog.New(slog.DiscardHandler))
}

// Plan returns the migrations that the database lacks. It changes nothing.
func Plan(ctx context.Context, cfg setting.Values) ([]db.PlannedMigration, error) {
	d, err := Peek(ctx, cfg)
	if err != nil {
		return nil, err
	}
	planned, err := db.Plan(ctx, d)
	return planned, errors.Join(err, d.Close())
}

// Keys opens the configured master key. It creates no key.
func Keys(cfg setting.Values) (*secret.Box, error) { return openBox(cfg) }
