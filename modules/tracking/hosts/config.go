package hosts

import (
	"time"

	"github.com/postrider/postrider/modules/tracking/weburl"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/ops/config"
)

// Config of the module. The zero value of a duration or number is its default.
type Config struct {
	// BaseURL is where this installation is reached: scheme and host, no slash at its end.
	BaseURL string
	// Target is the name that tracking hosts point to; empty: there can be none.
	Target string
	// Own are further names of this installation, which no tracking host may have.
	Own []string

	CheckTimeout time.Duration // of one host: 10 s
	FailAfter    time.Duration // from a CNAME that is gone to failed: 72 h
	Checks       int           // checks at once in the background: 4
}

// ConfigOf takes what the module needs from the installation's configuration.
func ConfigOf(cfg setting.Values) Config {
	return Config{BaseURL: config.BaseURL.Of(cfg), Target: config.TrackingHost.Of(cfg), Own: []string{config.BaseHost(cfg),
		config.SandboxDomain.Of(cfg), config.ReturnPathHost.Of(cfg), config.SPFInclude.Of(cfg), config.SMTPHost.Of(cfg), config.Hostname.Of(cfg)}}
}

func (c Config) withDefaults() Config {
	set := func(value *time.Duration, standard time.Duration) {
		if *value == 0 {
			*value = standard
		}
	}
	set(&c.CheckTimeout, 10*time.Second)
	set(&c.FailAfter, 72*time.Hour)
	if c.Checks == 0 {
		c.Checks = 4
	}
	return c
}

// Validate reports every wrong field.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	weburl.CheckBase(wrong, "BaseURL", c.BaseURL)
	if _, err := address.ParseDomain(c.Target); c.Target != "" && err != nil {
		wrong.Add("Target", "%s", err)
	}
	if c.CheckTimeout < 0 || c.CheckTimeout > time.Minute {
		wrong.Add("CheckTimeout", "must be between 0 and 1m, which is less than a worker's lease")
	}
	if c.FailAfter < 0 || c.Checks < 0 {
		wrong.Add("FailAfter, Checks", "must be positive")
	}
	return wrong.Err()
}
