package suppression

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

// Config of the module.
type Config struct {
	BaseURL string // public URL of this installation, for links
	// Mailboxes are addresses that count as one with all their subaddresses: what is held of
	// bob@example.net holds for bob+anything@example.net. Only development mode has some. Whose
	// a subaddress is decides the receiving server, so it is guessed for nobody else's domain.
	Mailboxes []string
}

// ConfigOf takes what the module needs from the installation's configuration.
func ConfigOf(cfg setting.Values) Config { return Config{BaseURL: config.BaseURL.Of(cfg)} }

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	if u, err := url.Parse(c.BaseURL); err != nil || u.Host == "" || strings.ContainsAny(c.BaseURL, "?#") {
		wrong.Add("base_url", "must be a URL without a query")
	}
	for i, mailbox := range c.Mailboxes {
		if spec, err := parseAddress(mailbox); err != nil || spec != mailbox {
			wrong.Add(fmt.Sprintf("mailboxes[%d]", i), "must be an address in lower case")
		}
	}
	return wrong.Err()
}
