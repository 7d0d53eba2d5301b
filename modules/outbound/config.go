package outbound

import (
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// Config configures the module; a zero duration uses the default.
type Config struct {
	// Captured is set if mail is captured on this machine. Only the zero Way is then used.
	Captured bool
	// Relayed is set if the zero Way is a smarthost. Sources and fallbacks are then unused, because they
	// apply only to direct attempts.
	Relayed bool
	// Fallback is the fallback smarthost of the installation, or nil.
	Fallback *smtpclient.Smarthost

	testMail TestMail // nil: mail of test mode has the zero Way, with which it is not sent

	ReadEvery   time.Duration // maximum age of the configuration; default 5 s
	ReportEvery time.Duration // how often TLS session counts are stored; default 1 min
	GoneAfter   time.Duration // how long a source waits for a process that has it; default 10 min
}

// ConfigOf returns the module's part of the installation's configuration.
func ConfigOf(cfg setting.Values) Config {
	c := Config{Captured: MainExit.Get(cfg).How == Capture, Relayed: MainExit.Get(cfg).How == Smarthost}
	if f := FallbackExit.Get(cfg); f.How == Smarthost {
		c.Fallback = &smtpclient.Smarthost{Host: f.Host, Port: f.Port, Implicit: f.ImplicitTLS, Username: f.Username,
			Password: f.Password.Reveal()}
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

// Validate reports every invalid setting.
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
