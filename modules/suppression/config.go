package suppression

import (
	"net/url"
	"strings"

	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/setting"
)

// Config of the module.
type Config struct {
	BaseURL string // public URL of this installation, for links
}

// ConfigOf takes what the module needs from the installation's configuration.
func ConfigOf(cfg setting.Values) Config { return Config{BaseURL: config.BaseURL.Of(cfg)} }

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	if u, err := url.Parse(c.BaseURL); err != nil || u.Host == "" || strings.ContainsAny(c.BaseURL, "?#") {
		wrong.Add("base_url", "must be a URL without a query")
	}
	return wrong.Err()
}
