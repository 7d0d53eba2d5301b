package runtime

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/db/embedded"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/secret"
	"github.com/postrider/postrider/runtime/telemetry"
)

// store is what outlives the modules: the database, and the server when it is ours.
type store struct {
	db     *db.DB
	server *embedded.Server // nil with DATABASE_URL
	url    string
	box    *secret.Box
}

const (
	// How long a start waits for a database that is away: machines come up in any order.
	awayLimit = time.Minute
	awayPause = 2 * time.Second
	stopLimit = 20 * time.Second
)

func openStore(ctx context.Context, cfg config.Config, log *slog.Logger) (_ *store, err error) {
	s := &store{url: cfg.Database.URL.Reveal()}
	defer func() {
		if err != nil {
			s.close(log)
		}
	}()
	if err := makeDataDir(cfg); err != nil {
		return nil, err
	}
	if s.box, err = openBox(cfg); err != nil {
		return nil, err
	}
	if cfg.Database.Embedded() {
		log.InfoContext(ctx, "starting the embedded PostgreSQL", "data_dir", cfg.DataDir)
		s.server, err = embedded.Start(ctx, embedded.Config{DataDir: cfg.DataDir, BinDir: cfg.Database.PostgresBin,
			Fallback: cfg.Database.PostgresFallback, Logger: log})
		if err != nil {
			return nil, err
		}
		s.url = s.server.URL()
	}
	if s.db, err = connect(ctx, cfg, s.url, log); err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx, s.db, log); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return s, nil
}

// makeDataDir makes the folder when something will be kept in it. Keys are, so
// nobody else may look in.
func makeDataDir(cfg config.Config) error {
	if !cfg.Database.Embedded() && len(cfg.Secrets.Keys) > 0 && cfg.Mode != config.Dev {
		return nil
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("POSTRIDER_DATA_DIR: %w", err)
	}
	return nil
}

// connect waits a while for a server that does not answer yet; one that answers
// and will not do is refused at once.
func connect(ctx context.Context, cfg config.Config, url string, log *slog.Logger) (*db.DB, error) {
	limit := time.Now().Add(awayLimit)
	for {
		opened, err := db.Open(ctx, db.Config{URL: url, RiskLosingAcceptedMail: cfg.Database.RiskLosingAcceptedMail}, log)
		if err == nil {
			return opened, nil
		}
		if !fault.IsDatabaseAway(err) || time.Now().After(limit) {
			return nil, fmt.Errorf("DATABASE_URL: %w", err)
		}
		log.WarnContext(ctx, "the database is away; trying again", "until", limit.Format(time.TimeOnly), telemetry.KeyError, err)
		select {
		case <-time.After(awayPause):
		case <-ctx.Done():
			return nil, fmt.Errorf("DATABASE_URL: %w", errors.Join(ctx.Err(), err))
		}
	}
}

// openBox finds the master key: a setting, or in development mode a file that is
// made at the first start.
func openBox(cfg config.Config) (*secret.Box, error) {
	keys := cfg.Secrets.Keys
	if len(keys) == 0 && cfg.Secrets.KeyFile == "" {
		return secret.NewBox(secret.NewKey()) // a command that seals nothing that lasts
	}
	if len(keys) == 0 {
		setting, err := secret.KeyFile(cfg.Secrets.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("POSTRIDER_DATA_DIR: %w", err)
		}
		if keys, err = secret.ParseKeys(setting); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Clean(cfg.Secrets.KeyFile), err)
		}
	}
	return secret.NewBox(keys...)
}

// close is the end of every path of a life.
func (s *store) close(log *slog.Logger) {
	if s.db != nil {
		if err := s.db.Close(); err != nil {
			log.Error("close database", telemetry.KeyError, err)
		}
	}
	if s.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		if err := s.server.Stop(ctx); err != nil {
			log.Error("stop the embedded PostgreSQL", telemetry.KeyError, err)
		}
	}
}
