package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/postrider/postrider/modules/accounts/moves"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/ops/transfer"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
)

type accountExportCommand struct {
	settingFlags `settings:"tool,POSTRIDER_MASTER_KEY,POSTRIDER_BLOBS"`

	Account          string `arg:"" help:"Email or ID of the account." placeholder:"EMAIL"`
	To               string `help:"File to write, or - for standard output. A file appears when it is complete." placeholder:"FILE" required:""`
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
		if err != nil {
			return err
		}
		export := transfer.Export
		if c.Move {
			export = of.exportMove
		}
		if c.To == "-" {
			_, err := export(s.ctx, of.store.DB, found.ID, s.out, options)
			return err
		}
		made, err := writeWhole(c.To, func(to io.Writer) (*transfer.Result, error) {
			return export(s.ctx, of.store.DB, found.ID, to, options)
		})
		if err != nil {
			return err
		}
		return s.print(shownTransfer(made))
	})
}

// exportMove exports an account that is being moved.
func (of services) exportMove(ctx context.Context, d *db.DB, accountID string, to io.Writer,
	o transfer.Options) (*transfer.Result, error) {
	return moves.ExportMove(ctx, d, accountID, to, moves.Options{Options: o, Count: of.statistics().Count})
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
	Plan             string `help:"Plan of the account (default: the plan with the same name as at the source)." placeholder:"PLAN"`
	WithoutPasswords bool   `help:"Ignore passwords, passkeys and other ways to sign in. People can sign in with a link."`
}

func (c *accountImportCommand) Run(s *session) error {
	cfg, err := c.load()
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
		options.Plan = c.Plan
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
			Problem: "is required: it encrypts the secrets in the file"}}
	}
	o := transfer.Options{Keys: of.store.KeyMarks(), Program: s.version, Credentials: !withoutPasswords,
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
