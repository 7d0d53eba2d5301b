package webhooks

import (
	"time"

	"github.com/postrider/postrider/modules/webhooks/post"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/ops/config"
)

// Brief is how the URLs of endpoints begin that are tried again within seconds, so that people see how a
// delivery fails. It is for development; empty: there are none.
type Brief string

// Config of the module. The zero value of a duration or number is its default; that of Timeout
// is 10 s.
type Config struct {
	post.Config

	Concurrency int           // POSTs at once in this process that are not late: 128; four times as many with those that hang
	Poll        time.Duration // look for due deliveries at least so often: 1 s
	AcceptOnly  bool          // this process delivers nothing
}

// ConfigOf takes what the module needs from the installation's configuration.
func ConfigOf(cfg setting.Values, resolver *dnsx.Resolver) Config {
	return Config{Config: post.ConfigOf(cfg, resolver), AcceptOnly: config.DeliveryConcurrency.Of(cfg) == 0}
}

func (c Config) withDefaults() Config {
	if c.Concurrency == 0 {
		c.Concurrency = 128
	}
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Second
	}
	if c.Poll == 0 {
		c.Poll = time.Second
	}
	return c
}

// lease is as long as a delivery may wait in the process and then a POST may take, so
// that only a process that is gone loses one.
const lease = 25 * time.Second

// Validate reports every wrong field.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	if c.Concurrency < 0 {
		wrong.Add("Concurrency", "must be positive")
	}
	if c.Timeout < 0 || c.Timeout > lease/2 {
		wrong.Add("Timeout", "must be between 0 and %s, which is half a lease", lease/2)
	}
	if c.Poll < 0 {
		wrong.Add("Poll", "must be positive")
	}
	return wrong.Err()
}
