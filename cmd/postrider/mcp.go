package main

import (
	"os"

	"github.com/postrider/postrider/cmd/postrider/bridge"
)

type mcpCommand struct{ remote }

func (c *mcpCommand) Run(s *session) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	return bridge.Run(s.ctx, bridge.Request{BaseURL: server.BaseURL, APIKey: server.APIKey, Version: s.version,
		In: os.Stdin, Out: s.out})
}
