package outbound

import (
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// Config of the module; the zero value of a duration is its default.
type Config struct {
	// Captured: mail is caught on this machine, so there is only the zero Way.
	Captured bool
	// Relayed: the zero Way is a smarthost. Sources and fallbacks are for direct
	// attempts, of which there are none.
	Relayed bool
	// Fallback is the installation's; nil for none.
	Fallback *smtpclient.Smarthost

	ReadEvery   time.Duration // how old the configuration may be: 5 s
	ReportEvery time.Duration // the pace at which TLS sessions are stored: 1 min
	GoneAfter   time.Duration // for so long a source waits for a process that has it: 10 min
}

// ConfigOf takes what the module needs from the installation's configuration.
func ConfigOf(cfg setting.Values) Config {
	c := Config{Captured: MainExit.Of(cfg).How == Capture, Relayed: MainExit.Of(cfg).How == Smarthost}
	if f := FallbackExit.Of(cfg); f.How == Smarthost {
		c.Fallback = &smtpclient.Smarthost{Host: f.Host, Port: f.Port, Implicit: f.ImplicitTLS, Username: f.Username, Password: f.Password.Reveal()}
	}
	return c
}

func (c Config) withDefaults() Config {
	if c.ReadEvery == 0 {
		c.ReadEvery = 5 * time.Second
	}
	if c.ReportEvery == 0 {
		c.ReportEvery = time.Minute
	}
	if c.GoneAfter == 0 {
		c.GoneAfter = 10 * time.Minute
	}
	return c
}

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	if c.ReadEvery < 0 {
		wrong.Add("read_every", "must be positive")
	}
	if c.ReportEvery < 0 {
		wrong.Add("report_every", "must be positive")
	}
	if c.GoneAfter < 0 {
		wrong.Add("gone_after", "must be positive")
	}
	return wrong.Err()
}
