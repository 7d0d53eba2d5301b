package app

import (
	"net/http"

	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/mcp"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

// agentTools is the mode in which tools for AI agents are served; empty if their module is off.
type agentTools struct{ mode mcp.Mode }

func provideAgentTools(cfg setting.Values) agentTools { return agentTools{mcp.Tools.Get(cfg)} }

// serveAgents serves the tools for AI agents, which call the API and GraphQL in this process.
func (p edgeParams) serveAgents(mux *listedMux, rest *api.API, query http.Handler, on []string) error {
	if p.Agents.mode == "" || p.Agents.mode == mcp.ModeOff {
		return nil
	}
	tools, err := mcp.New(mcp.Options{API: rest, GraphQL: query, Auth: p.Accounts, People: p.userSessions(),
		Proxies:  config.TrustedProxies.Get(p.Config),
		Origins:  append([]string{config.BaseURL.Get(p.Config)}, config.OtherOrigins(p.Config)...),
		Accounts: p.Accounts, Rate: accountRate{p.Rate}, Budget: p.Budget, Modules: on, Mode: p.Agents.mode,
		Version: p.Options.Version, Logger: p.Logger})
	if err != nil {
		return err
	}
	mux.Handle(mcp.Path, tools)
	return nil
}
