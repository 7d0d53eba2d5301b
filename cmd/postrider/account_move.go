package main

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts/moves"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
)

type accountMoveCommand struct {
	settingFlags `settings:"tool,POSTRIDER_MASTER_KEY,POSTRIDER_BLOBS,POSTRIDER_BASE_URL"`

	Account string        `arg:"" help:"Email or ID of the account." placeholder:"EMAIL"`
	To      string        `help:"Base URL of the target." placeholder:"URL" required:""`
	KeyFile string        `help:"File with an operator key of the target." placeholder:"FILE" required:"" type:"existingfile"`
	Plan    string        `help:"Plan of the account at the target (default: the plan with the same ID)." placeholder:"PLAN"`
	Forward bool          `help:"Forward requests with API keys to the target, instead of redirecting them."`
	Wait    time.Duration `help:"How long to wait for work in progress before the account resumes." default:"2m"`
}

func (c *accountMoveCommand) Run(s *session) error {
	key, err := os.ReadFile(c.KeyFile)
	if err != nil {
		return err
	}
	target, err := moves.NewRemote(c.To, secret.New(strings.TrimSpace(string(key))), c.Plan)
	if err != nil {
		return err
	}
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
		options, err := s.transferOptions(of, false)
		if err == nil {
			err = of.requireBaseURL()
		}
		if err != nil {
			return err
		}
		moving := of.moveOptions(options, c.Wait)
		moving.Forward = c.Forward
		if err := moves.Move(s.ctx, of.store.DB, found.ID, target, moving); err != nil {
			return err
		}
		return s.print(map[string]string{"account_id": found.ID, "moved_to": target.BaseURL()})
	})
}

type accountFinishCommand struct {
	toolSettings

	Account string `arg:"" help:"Email or ID of the account." placeholder:"EMAIL"`
	To      string `help:"Base URL of the target, to which requests are redirected." placeholder:"URL" required:""`
	Forward bool   `help:"Forward requests with API keys to the target, instead of redirecting them."`
}

func (c *accountFinishCommand) Run(s *session) error {
	if _, err := moves.CheckBaseURL(c.To); err != nil {
		return err
	}
	return c.withMove(s, c.Account, func(ctx context.Context, d *db.DB, accountID string) error {
		code, err := moves.Finish(ctx, d, accountID, c.To, c.Forward)
		if err != nil {
			return err
		}
		return s.print(map[string]string{"account_id": accountID, "move_code": code})
	})
}

type accountCancelCommand struct {
	toolSettings

	Account string `arg:"" help:"Email or ID of the account." placeholder:"EMAIL"`
}

func (c *accountCancelCommand) Run(s *session) error {
	return c.withMove(s, c.Account, moves.Cancel)
}

type accountStartCommand struct {
	toolSettings

	Account string `arg:"" help:"Email or ID of the account." placeholder:"EMAIL"`
	Code    string `help:"Move code that finish-move printed at the source." placeholder:"CODE" required:""`
}

func (c *accountStartCommand) Run(s *session) error {
	return c.withMove(s, c.Account, func(ctx context.Context, d *db.DB, accountID string) error {
		return moves.Start(ctx, d, accountID, c.Code)
	})
}

// withMove changes the move of an account.
func (t toolSettings) withMove(s *session, account string,
	do func(ctx context.Context, d *db.DB, accountID string) error) error {
	cfg, err := t.load()
	if err != nil {
		return err
	}
	return withServices(s.ctx, silenceLogs(cfg, false), func(of services) error {
		service, err := of.accounts()
		if err != nil {
			return err
		}
		found, err := service.Find(s.ctx, account)
		if err != nil {
			return err
		}
		return do(s.ctx, of.store.DB, found.ID)
	})
}
