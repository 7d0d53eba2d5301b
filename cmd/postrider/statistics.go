package main

import (
	"fmt"

	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/bus"
)

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
