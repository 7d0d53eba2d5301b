package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/postgres"
	"github.com/postrider/postrider/runtime/secret"
)

// ErrNotRunning says that the embedded database is not there, or that no service runs it.
var ErrNotRunning = errors.New("no service runs here")

const peekLimit = 10 * time.Second

// Peek opens the database that the configuration names as it is: no server is started, and
// nothing is made or migrated. The error is ErrNotRunning for an embedded one that nobody
// runs.
func Peek(ctx context.Context, cfg config.Config) (*db.DB, error) {
	url := cfg.Database.URL.Reveal()
	if cfg.Database.Embedded() {
		if !HoldsData(cfg.DataDir) {
			return nil, fmt.Errorf("%s has no database: %w", cfg.DataDir, ErrNotRunning)
		}
		found, err := postgres.Find(cfg.DataDir)
		if errors.Is(err, postgres.ErrNotReady) {
			return nil, fmt.Errorf("the database in %s is at rest: %w", cfg.DataDir, ErrNotRunning)
		}
		if err != nil {
			return nil, err
		}
		url = found
	}
	ctx, cancel := context.WithTimeout(ctx, peekLimit)
	defer cancel()
	return db.Open(ctx, db.Config{URL: url, RiskLosingAcceptedMail: cfg.Database.RiskLosingAcceptedMail}, slog.New(slog.DiscardHandler))
}

// Keys opens the master key that the configuration names. No key is made where none is.
func Keys(cfg config.Config) (*secret.Box, error) { return openBox(cfg) }
