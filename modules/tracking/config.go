package tracking

import (
	"net/url"

	"github.com/postrider/postrider/runtime/fault"
)

// Config of the module.
type Config struct {
	// BaseURL is where this installation is reached: scheme and host, no slash at its end.
	BaseURL string
}

// Validate reports every wrong field.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	if u, err := url.Parse(c.BaseURL); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Path != "" {
		wrong.Add("BaseURL", "is no http(s) URL of a host alone")
	}
	return wrong.Err()
}
