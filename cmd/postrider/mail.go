package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/cmd/postrider/shown"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/bus"
)

type emailListCommand struct {
	toolSettings

	Account string   `help:"Account, by email or ID." placeholder:"EMAIL" required:""`
	Limit   int      `default:"25" help:"Maximum number of emails: 1 to 100."`
	Cursor  string   `help:"Continue after the page that returned this next_cursor." placeholder:"CURSOR"`
	Query   []string `arg:"" help:"Search text, as in the dashboard: receipt to:bob@example.net is:bounced." optional:""`
}

func (c *emailListCommand) Validate() error { return checkLimit(c.Limit, page.MaxLimit) }

func (c *emailListCommand) Run(s *session) error {
	return c.withStore(s, func(of services) error {
		holders, err := of.accounts()
		if err != nil {
			return err
		}
		account, err := holders.Find(s.ctx, c.Account)
		if err != nil {
			return err
		}
		found, err := of.emails().List(s.ctx, account.ID,
			records.ListQuery{Page: page.Request{Limit: c.Limit, Cursor: c.Cursor},
				Filter: records.Filter{Q: strings.Join(c.Query, " ")}})
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
	return c.withStore(s, func(of services) error {
		service := statistics.New(statistics.Params{DB: of.store.DB, Facts: bus.NewLog(of.store.DB), Logger: of.log})
		var shown time.Time
		err := service.Rebuild(s.ctx, func(p statistics.Progress) {
			if time.Since(shown) < time.Second && p.Accounts < max(p.Whole, 1) {
				return
			}
			shown = time.Now()
			if p.Whole > 0 {
				fmt.Fprintf(s.log, "compared %d of %d accounts\n", p.Accounts, p.Whole)
			} else {
				fmt.Fprintf(s.log, "counted %d of about %d events (%d %%), skipped %d\n", p.Facts, p.About,
					100*p.Facts/max(p.About, 1), p.Skipped)
			}
		})
		if err != nil {
			return err
		}
		return s.print(map[string]bool{"rebuilt": true})
	})
}
