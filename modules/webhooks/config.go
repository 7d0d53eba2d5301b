package webhooks

import (
	"time"

	"github.com/postrider/postrider/modules/webhooks/post"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/ops/config"
)

// BriefURLPrefix selects endpoints by URL prefix whose retries follow within seconds, so that developers can
// watch a delivery fail. For development only. Empty matches no endpoint.
type BriefURLPrefix string

// Config configures the module. A zero duration or number selects its default. The default Timeout is 10 s.
type Config struct {
	post.Config

	// concurrent POSTs of this process, not counting late ones: 128; up to four times as many including late
	// ones
	Concurrency int
	Poll        time.Duration // maximum interval between polls for due deliveries: 1 s
	AcceptOnly  bool          // this process makes no deliveries
}

// ConfigOf returns the module's configuration from the installation's settings.
func ConfigOf(cfg setting.Values, resolver *dnsx.Resolver) Config {
	return Config{Config: post.ConfigOf(cfg, resolver), AcceptOnly: config.DeliveryConcurrency.Get(cfg) == 0}
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

// lease covers the longest time that a delivery waits in the process plus the longest POST, so only a dead
// process loses a lease.
const lease = 25 * time.Second

// Validate reports every invalid field.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	if c.Concurrency < 0 {
		wrong.Add("Concurrency", "must be positive")
	}
	if c.Timeout < 0 || c.Timeout > lease/2 {
		wrong.Add("Timeout", "must be between 0 and %s, half of the lease", lease/2)
	}
	if c.Poll < 0 {
		wrong.Add("Poll", "must be positive")
	}
	return wrong.Err()
}
