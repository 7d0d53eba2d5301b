package main

import (
	"fmt"
	"strings"

	"github.com/postrider/postrider/cmd/postrider/shown"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/page"
)

type emailListCommand struct {
	toolSettings

	Account string   `help:"Whose emails: its email or its id." placeholder:"EMAIL" required:""`
	Limit   int      `default:"25"                              help:"How many at most: 1 to 100."`
	Cursor  string   `help:"Continue behind a page: its next_cursor." placeholder:"CURSOR"`
	Query   []string `arg:""                                    help:"Words, and to:, from:, subject:, domain:, tag:, status:, is:, template:, automation:, after: and before:." optional:""`
}

func (c *emailListCommand) Validate() error { return limited(c.Limit, page.MaxLimit) }

func (c *emailListCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withServices(s.ctx, cfg, func(of services) error {
		holders, err := of.accounts()
		if err != nil {
			return err
		}
		account, err := holders.Find(s.ctx, c.Account)
		if err != nil {
			return err
		}
		found, err := of.emails().List(s.ctx, account.ID, records.ListQuery{Page: page.Request{Limit: c.Limit, Cursor: c.Cursor}, Filter: records.Filter{Q: strings.Join(c.Query, " ")}})
		if err != nil {
			return err
		}
		return s.print(struct {
			Emails     []shown.Email `json:"emails"`
			NextCursor string        `json:"next_cursor"`
		}{shown.List(found.Items, shown.EmailOf), found.NextCursor})
	})
}

type statisticsRebuildCommand struct{ toolSettings }

func (c *statisticsRebuildCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withServices(s.ctx, cfg, func(of services) error {
		service := statistics.New(statistics.Params{DB: of.store.DB, Facts: bus.NewLog(of.store.DB), Logger: of.log})
		if err := service.Rebuild(s.ctx, func(n int) { fmt.Fprintf(s.log, "%d events counted\n", n) }); err != nil {
			return err
		}
		return s.print(map[string]bool{"rebuilt": true})
	})
}
