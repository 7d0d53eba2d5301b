package hosts

import (
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/tracking/weburl"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/ops/config"
)

// Config configures the module.
type Config struct {
	// BaseURL is the public URL of this installation: scheme and host, without a trailing slash.
	BaseURL string
	// Target is the name that tracking hosts must point to. If empty, tracking hosts are disabled.
	Target string
	// OwnTargets is whether each host is shown a target of its own, below TrackingLabel and Target.
	OwnTargets bool
	// Own lists further names of this installation, which cannot be tracking hosts.
	Own []string
}

// ConfigOf returns the module's configuration from the installation's settings.
func ConfigOf(cfg setting.Values) Config {
	return Config{BaseURL: config.BaseURL.Get(cfg), Target: config.TrackingHost.Get(cfg),
		OwnTargets: config.OwnTargets.Get(cfg),
		Own: []string{config.BaseHost(cfg),
			config.SandboxDomain.Get(cfg), config.ReturnPathHost.Get(cfg), config.SPFInclude.Get(cfg),
			config.SMTPHost.Get(cfg),
			config.Hostname.Get(cfg)}}
}

// ownTarget returns the target of the tracking host of one domain, which is an alias of Target.
func (c Config) ownTarget(domainID string) string {
	return dnscheck.OwnTarget(domainID, config.TrackingLabel+c.Target)
}

// Validate reports every invalid field.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	weburl.CheckBase(wrong, "BaseURL", c.BaseURL)
	if _, err := address.ParseDomain(c.Target); c.Target != "" && err != nil {
		wrong.Add("Target", "%s", err)
	}
	return wrong.Err()
}
