package inbound

import (
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

// Config configures the module.
type Config struct {
	Hostname   string // name of this installation in authentication results
	SMTPHost   string // host that MX records point to; optional
	AcceptOnly bool   // this process moves nothing to the object store
}

// ConfigOf returns the module's configuration from the installation's settings.
func ConfigOf(cfg setting.Values) Config {
	return Config{Hostname: config.Hostname.Get(cfg), SMTPHost: config.SMTPHost.Get(cfg),
		AcceptOnly: config.DeliveryConcurrency.Get(cfg) == 0}
}

// MaxMessage is the maximum size of a received message, in bytes.
const MaxMessage = 32 << 20

// Validate reports every invalid field.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	if c.Hostname == "" {
		wrong.Add("Hostname", "is required")
	}
	return wrong.Err()
}
