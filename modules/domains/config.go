package domains

import (
	"time"

	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/ops/config"
)

// Config configures the module. Hosts are names without a port.
type Config struct {
	BaseHost       string // host of the base URL
	SandboxDomain  string // shared domain for the first emails of every account
	ReturnPathHost string // target of the rp CNAME
	OwnTargets     bool   // show each domain a target of its own below ReturnPathHost
	SPFInclude     string // host of the SPF include
	SMTPHost       string // host of the relay
	PolicyHost     string // target of the CNAME records of MTA-STS policies; empty: none are served
	Hostname       string // EHLO name; may be empty

	CheckTimeout time.Duration // maximum time for all lookups of one check of one domain; zero: 15 s
}

// ConfigOf returns the module's part of the installation's configuration.
func ConfigOf(cfg setting.Values) Config {
	return Config{BaseHost: config.BaseHost(cfg), Hostname: config.Hostname.Get(cfg),
		SandboxDomain: config.SandboxDomain.Get(cfg), ReturnPathHost: config.ReturnPathHost.Get(cfg),
		OwnTargets: config.OwnTargets.Get(cfg),
		SPFInclude: config.SPFInclude.Get(cfg), SMTPHost: config.SMTPHost.Get(cfg), PolicyHost: config.TrackingHost.Get(cfg)}
}

func (c Config) withDefaults() Config {
	if c.CheckTimeout == 0 {
		c.CheckTimeout = 15 * time.Second
	}
	return c
}

// hosts returns the names that the records of domains point to.
func (c Config) hosts() dnscheck.Hosts {
	return dnscheck.Hosts{ReturnPath: c.ReturnPathHost, OwnTargets: c.OwnTargets, SPFInclude: c.SPFInclude, Inbound: c.SMTPHost,
		Policies: c.PolicyHost}
}

// Validate reports every invalid setting.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	for field, host := range map[string]string{"sandbox_domain": c.SandboxDomain, "return_path_host": c.ReturnPathHost,
		"spf_include": c.SPFInclude} {
		if _, err := address.ParseDomain(host); err != nil {
			wrong.Add(field, "%s", err)
		}
	}
	if c.CheckTimeout < 0 || c.CheckTimeout > time.Minute {
		wrong.Add("check_timeout", "must be between 0 and 1m, which is less than a worker's lease")
	}
	return wrong.Err()
}
