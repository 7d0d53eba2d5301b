package main

import (
	"io"

	"github.com/postrider/postrider/cmd/postrider/shown"
	"github.com/postrider/postrider/cmd/postrider/table"
	"github.com/postrider/postrider/modules/sending/queue"
	"github.com/postrider/postrider/runtime/work/node"
)

type nodesCommand struct {
	toolSettings

	JSON bool `help:"Print JSON." name:"json"`
}

func (c *nodesCommand) Run(s *session) error {
	return c.withStore(s, func(of services) error {
		all, err := node.Processes(s.ctx, of.store.DB)
		if err != nil {
			return err
		}
		faults, err := queue.Faults(s.ctx, of.store.DB)
		if err != nil {
			return err
		}
		if c.JSON {
			return s.print(map[string]any{"nodes": shown.List(all, shown.NodeOf), "faults": shown.List(faults, shown.FaultOf)})
		}
		_, err = io.WriteString(s.out, table.Nodes(all)+table.Faults(faults))
		return err
	})
}
