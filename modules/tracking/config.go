package tracking

import (
	"time"

	"github.com/postrider/postrider/modules/tracking/weburl"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

// Config of the module.
type Config struct {
	// BaseURL is where this installation is reached: scheme and host, no slash at its end.
	BaseURL string
	HostTTL time.Duration // how old the host of a domain may be for new mail; zero: 15 s
}

// ConfigOf takes what the module needs from the installation's configuration.
func ConfigOf(cfg setting.Values) Config { return Config{BaseURL: config.BaseURL.Of(cfg)} }

func (c Config) withDefaults() Config {
	if c.HostTTL == 0 {
		c.HostTTL = 15 * time.Second
	}
	return c
}

// Validate reports every wrong field.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	weburl.CheckBase(wrong, "BaseURL", c.BaseURL)
	if c.HostTTL < 0 {
		wrong.Add("HostTTL", "must be positive")
	}
	return wrong.Err()
}
