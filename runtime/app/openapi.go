package app

import (
	"fmt"

	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

// OpenAPI returns the description of the API with the given modules, as json or yaml (3.1), or as
// json-3.0 or yaml-3.0.
func OpenAPI(cfg setting.Values, format string) ([]byte, error) {
	modules, err := selectModules(cfg)
	if err != nil {
		return nil, err
	}
	var routes []api.Routes
	on := Foundation{Modules: modules}.names()
	for _, m := range modules {
		routes = append(routes, m.Operations(on)...)
	}
	document, err := api.DocumentOf("", config.BaseURL.Get(cfg), routes...)
	if err != nil {
		return nil, err
	}
	switch format {
	case "json":
		return document.JSON, nil
	case "json-3.0":
		return document.JSON30()
	case "yaml-3.0":
		return document.YAML30()
	case "yaml":
		return document.YAML()
	default:
		return nil, fmt.Errorf("--format must be json, yaml, json-3.0 or yaml-3.0, not %q", format)
	}
}
