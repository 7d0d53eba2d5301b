package main

import (
	"io"

	"github.com/postrider/postrider/cmd/postrider/shown"
	"github.com/postrider/postrider/cmd/postrider/table"
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
		if c.JSON {
			return s.print(map[string][]shown.Node{"nodes": shown.List(all, shown.NodeOf)})
		}
		_, err = io.WriteString(s.out, table.Nodes(all))
		return err
	})
}
