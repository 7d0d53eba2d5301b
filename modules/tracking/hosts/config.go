package hosts

import (
	"github.com/postrider/postrider/modules/tracking/weburl"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/ops/config"
)

// Config of the module.
type Config struct {
	// BaseURL is where this installation is reached: scheme and host, no slash at its end.
	BaseURL string
	// Target is the name that tracking hosts point to; empty: there can be none.
	Target string
	// Own are further names of this installation, which no tracking host may have.
	Own []string
}

// ConfigOf takes what the module needs from the installation's configuration.
func ConfigOf(cfg setting.Values) Config {
	return Config{BaseURL: config.BaseURL.Of(cfg), Target: config.TrackingHost.Of(cfg), Own: []string{config.BaseHost(cfg),
		config.SandboxDomain.Of(cfg), config.ReturnPathHost.Of(cfg), config.SPFInclude.Of(cfg), config.SMTPHost.Of(cfg), config.Hostname.Of(cfg)}}
}

// Validate reports every wrong field.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	weburl.CheckBase(wrong, "BaseURL", c.BaseURL)
	if _, err := address.ParseDomain(c.Target); c.Target != "" && err != nil {
		wrong.Add("Target", "%s", err)
	}
	return wrong.Err()
}
