package tracking

import (
	"time"

	"github.com/postrider/postrider/modules/tracking/weburl"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

// Config configures the module.
type Config struct {
	// BaseURL is the public URL of this installation: scheme and host, without a trailing slash.
	BaseURL string
	HostTTL time.Duration // how long the host of a domain may be cached for new mail; zero: 15 s
}

// ConfigOf returns the module's configuration from the installation's settings.
func ConfigOf(cfg setting.Values) Config { return Config{BaseURL: config.BaseURL.Get(cfg)} }

func (c Config) withDefaults() Config {
	if c.HostTTL == 0 {
		c.HostTTL = 15 * time.Second
	}
	return c
}

// Validate reports every invalid field.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	weburl.CheckBase(wrong, "BaseURL", c.BaseURL)
	if c.HostTTL < 0 {
		wrong.Add("HostTTL", "must be positive")
	}
	return wrong.Err()
}
