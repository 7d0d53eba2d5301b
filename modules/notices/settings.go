package notices

import (
	"errors"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/ops/config"
)

// From is who the installation's own mail is from.
var From = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_SYSTEM_FROM", Group: "People", DefaultText: "Postrider <no-reply@ the sandbox domain>",
	Help: "Sender of the installation's own mail, as invitations: an address at POSTRIDER_SANDBOX_DOMAIN.",
	Form: setting.Form[string]{Placeholder: "ADDRESS", Parse: func(text string) (string, error) {
		_, err := address.Parse(text)
		return text, err
	}},
	From: func(v setting.Values) string { return "Postrider <no-reply@" + config.SandboxDomain.Of(v) + ">" },
	Check: func(v setting.Values, from string) error {
		if config.SandboxDomain.Of(v) == "" { // which is wrong itself
			return nil
		}
		parsed, err := address.Parse(from)
		if err == nil && parsed.Domain != config.SandboxDomain.Of(v) {
			err = errors.New("must be at POSTRIDER_SANDBOX_DOMAIN, " + config.SandboxDomain.Of(v) + ", whose key the installation has")
		}
		return err
	},
})

// Config of the module.
type Config struct{ From string }

// ConfigOf reads the settings.
func ConfigOf(v setting.Values) Config { return Config{From.Of(v)} }
