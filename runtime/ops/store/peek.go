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

// ErrNotRunning says that the embedded database is not there, or that no service runs it.
var ErrNotRunning = errors.New("no service runs here")

const peekLimit = 10 * time.Second

// Peek opens the database that the configuration names as it is: no server is started, and
// nothing is made or migrated. The error is ErrNotRunning for an embedded one that nobody
// runs.
func Peek(ctx context.Context, cfg setting.Values) (*db.DB, error) {
	url := config.DatabaseURL.Of(cfg).Reveal()
	if config.Embedded(cfg) {
		if !HoldsData(config.DataDir.Of(cfg)) {
			return nil, fmt.Errorf("%s has no database: %w", config.DataDir.Of(cfg), ErrNotRunning)
		}
		found, err := postgres.Find(config.DataDir.Of(cfg))
		if errors.Is(err, postgres.ErrNotReady) {
			return nil, fmt.Errorf("the database in %s is at rest: %w", config.DataDir.Of(cfg), ErrNotRunning)
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

// Plan says what migrations the database lacks, and changes nothing.
func Plan(ctx context.Context, cfg setting.Values) ([]db.Planned, error) {
	d, err := Peek(ctx, cfg)
	if err != nil {
		return nil, err
	}
	planned, err := db.Plan(ctx, d)
	return planned, errors.Join(err, d.Close())
}

// Keys opens the master key that the configuration names. No key is made where none is.
func Keys(cfg setting.Values) (*secret.Box, error) { return openBox(cfg) }
