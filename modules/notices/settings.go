package notices

import (
	"errors"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/ops/config"
)

// From is the sender of the installation's own mail.
var From = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_SYSTEM_FROM", Group: "People", DefaultText: "Postrider <no-reply@ the sandbox domain>",
	Help: "Sender of the installation's own mail, such as invitations. Must be an address at POSTRIDER_SANDBOX_DOMAIN.",
	Form: setting.Syntax[string]{Placeholder: "ADDRESS", Parse: func(text string) (string, error) {
		_, err := address.Parse(text)
		return text, err
	}},
	From: func(v setting.Values) string { return "Postrider <no-reply@" + config.SandboxDomain.Get(v) + ">" },
	Check: func(v setting.Values, from string) error {
		if config.SandboxDomain.Get(v) == "" { // its own check reports this
			return nil
		}
		parsed, err := address.Parse(from)
		if err == nil && parsed.Domain != config.SandboxDomain.Get(v) {
			err = errors.New("must be at POSTRIDER_SANDBOX_DOMAIN, " + config.SandboxDomain.Get(v) +
				", because the installation has its signing key")
		}
		return err
	},
})

// Config configures the module.
type Config struct{ From string }

// ConfigOf reads the settings.
func ConfigOf(v setting.Values) Config { return Config{From.Get(v)} }
