package main

import (
	"os"

	"github.com/postrider/postrider/cmd/postrider/bridge"
)

type mcpCommand struct {
	BaseURL string `default:"http://127.0.0.1:8080" env:"POSTRIDER_BASE_URL" help:"URL of Postrider." name:"base-url" placeholder:"URL"`
	APIKey  string `env:"POSTRIDER_API_KEY" help:"API key of the account. Prefer the environment variable." name:"api-key" placeholder:"svc_…" required:""`
}

func (c *mcpCommand) Run(s *session) error {
	return bridge.Run(s.ctx, bridge.Request{BaseURL: c.BaseURL, APIKey: c.APIKey, Version: s.version, In: os.Stdin,
		Out: s.out})
}
