package inbound

import (
	"time"

	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/setting"
)

// Config of the module. The zero value of a duration or number is its default.
type Config struct {
	Hostname    string        // ours, for authentication results
	CheckWithin time.Duration // authentication and spam filter together: 20 s
	RulesTTL    time.Duration // how long another process may go by old address rules: 5 s
	AcceptOnly  bool          // this process brings nothing to the object store
}

// ConfigOf takes what the module needs from the installation's configuration.
func ConfigOf(cfg setting.Values) Config {
	return Config{Hostname: config.Hostname.Of(cfg), AcceptOnly: config.DeliveryConcurrency.Of(cfg) == 0}
}

// MaxMessage is the largest message that is received, in octets.
const MaxMessage = 32 << 20

func (c Config) withDefaults() Config {
	if c.CheckWithin == 0 {
		c.CheckWithin = 20 * time.Second
	}
	if c.RulesTTL == 0 {
		c.RulesTTL = 5 * time.Second
	}
	return c
}

// Validate reports every wrong field.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	if c.Hostname == "" {
		wrong.Add("Hostname", "is required")
	}
	if c.CheckWithin < 0 {
		wrong.Add("CheckWithin", "must be positive")
	}
	if c.RulesTTL < 0 {
		wrong.Add("RulesTTL", "must be positive")
	}
	return wrong.Err()
}
