package mcp

import "github.com/postrider/postrider/runtime/base/setting"

// Mode defines which tools agents can use.
type Mode string

// The modes.
const (
	ModeOff  Mode = "off"
	ModeRead Mode = "read"
	ModeOn   Mode = "on"
)

// Tools defines which tools are served at Path.
var Tools = setting.Declare(setting.Setting[Mode]{
	Name: "POSTRIDER_MCP", Group: "API", Form: setting.OneOf("MODE", ModeOff, ModeRead, ModeOn), Default: ModeOn,
	Help: "Tools for AI agents at /mcp: on for all that the API key allows, read for those that change nothing, off for none.",
})
