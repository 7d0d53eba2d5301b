package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/postrider/postrider/modules/accounts/moves"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/ops/transfer"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
)

type accountExportCommand struct {
	settingFlags `settings:"tool,POSTRIDER_MASTER_KEY,POSTRIDER_BLOBS,POSTRIDER_BASE_URL"`

	Account          string `arg:"" help:"Email or ID of the account." placeholder:"EMAIL"`
	To               string `help:"File to write, or - for standard output. A file appears when it is complete." placeholder:"FILE" required:""`
	SecretFile       string `help:"File to write the one-time key to, which import needs to open the secrets in the file." placeholder:"FILE" required:""`
	Move             bool   `help:"Freeze the account, and include its unfinished work (see finish-move and cancel-move)."`
	WithoutPasswords bool   `help:"Leave out passwords, passkeys and other ways to sign in. People can sign in with a link."`
}

func (c *accountExportCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withServices(s.ctx, silenceLogs(cfg, false), func(of services) error {
		service, err := of.accounts()
		if err != nil {
			return err
		}
		found, err := service.Find(s.ctx, c.Account)
		if err != nil {
			return err
		}
		options, err := s.transferOptions(of, c.WithoutPasswords)
		if err == nil && c.Move {
			err = of.requireBaseURL()
		}
		if err == nil {
			options.Secret, err = createSecretFile(c.SecretFile)
		}
		if err != nil {
			return err
		}
		made, err := c.export(s, of, found.ID, options)
		if err != nil {
			return errors.Join(err, os.Remove(c.SecretFile))
		}
		if c.To == "-" {
			return nil
		}
		return s.print(shownTransfer(made))
	})
}

func (c *accountExportCommand) export(s *session, of services, accountID string,
	o transfer.Options) (*transfer.Result, error) {
	export := transfer.Export
	if c.Move {
		export = of.exportMove
	}
	if c.To == "-" {
		return export(s.ctx, of.store.DB, accountID, s.out, o)
	}
	return writeWhole(c.To, func(to io.Writer) (*transfer.Result, error) {
		return export(s.ctx, of.store.DB, accountID, to, o)
	})
}

// createSecretFile writes a new one-time key to a file. It replaces no file.
func createSecretFile(name string) (key secret.Key, err error) {
	key = secret.NewKey()
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return key, fmt.Errorf("--secret-file: %w", err)
	}
	_, err = fmt.Fprintln(file, key.Setting().Reveal())
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return key, errors.Join(fmt.Errorf("--secret-file: %w", err), os.Remove(name))
	}
	return key, nil
}

func readSecretFile(name string) (secret.Key, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return secret.Key{}, fmt.Errorf("--secret-file: %w", err)
	}
	keys, err := secret.ParseKeys(secret.New(string(text)))
	if err != nil || len(keys) != 1 {
		return secret.Key{}, fmt.Errorf("--secret-file: %s does not contain the one-time key of an export", name)
	}
	return keys[0], nil
}

// exportMove exports an account that is being moved.
func (of services) exportMove(ctx context.Context, d *db.DB, accountID string, to io.Writer,
	o transfer.Options) (*transfer.Result, error) {
	return moves.ExportMove(ctx, d, accountID, to, of.moveOptions(o, 0))
}

func (of services) moveOptions(o transfer.Options, patience time.Duration) moves.Options {
	return moves.Options{Options: o, BaseURL: config.BaseURL.Get(of.config), Patience: patience,
		Count: of.statistics().Count}
}

// requireBaseURL returns an error if the target of a move would not know where this installation is.
func (of services) requireBaseURL() error {
	if config.BaseURL.Get(of.config) != "" {
		return nil
	}
	return setting.Mistakes{{Setting: config.BaseURL.Name,
		Problem: "is required: the target asks this installation about links and bounces of earlier emails"}}
}

func (of services) statistics() *statistics.Service {
	return statistics.New(statistics.Params{DB: of.store.DB, Facts: bus.NewLog(of.store.DB), Logger: of.log})
}

// writeWhole writes a file that appears under its name when it is complete. It replaces no file.
func writeWhole(name string, write func(io.Writer) (*transfer.Result, error)) (_ *transfer.Result, err error) {
	if _, err := os.Lstat(name); err == nil {
		return nil, fmt.Errorf("--to: %s already exists", name)
	}
	part := name + ".part"
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--to: %w", err)
	}
	made, err := write(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(part, name)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(part))
	}
	return made, nil
}

type accountImportCommand struct {
	settingFlags `settings:"tool,POSTRIDER_MASTER_KEY,POSTRIDER_BLOBS"`

	From             string `arg:"" help:"File that account export wrote, or - for standard input." placeholder:"FILE"`
	SecretFile       string `help:"File with the one-time key that account export wrote." placeholder:"FILE" required:""`
	Plan             string `help:"Plan of the account (default: the plan with the same name as at the source)." placeholder:"PLAN"`
	WithoutPasswords bool   `help:"Ignore passwords, passkeys and other ways to sign in. People can sign in with a link."`
}

func (c *accountImportCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	oneTime, err := readSecretFile(c.SecretFile)
	if err != nil {
		return err
	}
	from := io.NopCloser(io.Reader(os.Stdin))
	if c.From != "-" {
		file, err := os.Open(c.From)
		if err != nil {
			return err
		}
		from = file
	}
	defer from.Close()
	return withServices(s.ctx, silenceLogs(cfg, false), func(of services) error {
		options, err := s.transferOptions(of, c.WithoutPasswords)
		if err != nil {
			return err
		}
		options.Plan, options.Secret = c.Plan, oneTime
		made, err := transfer.Import(s.ctx, of.store.DB, from, options)
		if err != nil {
			return err
		}
		return s.print(shownTransfer(made))
	})
}

func (s *session) transferOptions(of services, withoutPasswords bool) (transfer.Options, error) {
	if !store.HasKeys(of.config) {
		return transfer.Options{}, setting.Mistakes{{Setting: "POSTRIDER_MASTER_KEY",
			Problem: "is required: it encrypts the secrets of the account"}}
	}
	o := transfer.Options{Box: of.store.Box, Program: s.version, Credentials: !withoutPasswords,
		AdjustStatistics: statistics.AdjustImported,
		Progress: func(done string) {
			if isTerminal(s.log) {
				fmt.Fprintln(s.log, done)
			}
		}}
	if cfg := blob.StoreURL.Get(of.config); cfg.Bucket != "" {
		store, err := blob.S3(cfg)
		if err != nil {
			return o, fmt.Errorf("POSTRIDER_BLOBS: %w", err)
		}
		o.Objects = store
	}
	return o, nil
}

// shownTransfer is the output of both commands.
func shownTransfer(r *transfer.Result) any {
	return struct {
		AccountID  string              `json:"account_id"`
		Email      string              `json:"email"`
		Rows       map[string]int64    `json:"rows"`
		Objects    int64               `json:"objects"`
		Unfinished transfer.Unfinished `json:"unfinished"`
	}{r.Manifest.AccountID, r.Manifest.Email, r.End.Rows, r.End.Objects, r.End.Unfinished}
}
