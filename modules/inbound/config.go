package inbound

import (
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

// Config of the module.
type Config struct {
	Hostname   string // ours, for authentication results
	SMTPHost   string // the host that MX records point to; may be empty
	AcceptOnly bool   // this process brings nothing to the object store
}

// ConfigOf takes what the module needs from the installation's configuration.
func ConfigOf(cfg setting.Values) Config {
	return Config{Hostname: config.Hostname.Of(cfg), SMTPHost: config.SMTPHost.Of(cfg), AcceptOnly: config.DeliveryConcurrency.Of(cfg) == 0}
}

// MaxMessage is the largest message that is received, in octets.
const MaxMessage = 32 << 20

// Validate reports every wrong field.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	if c.Hostname == "" {
		wrong.Add("Hostname", "is required")
	}
	return wrong.Err()
}
