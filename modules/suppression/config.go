package suppression

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

// Config configures the module.
type Config struct {
	BaseURL string // public URL of this installation, for links
	// Mailboxes are addresses that share their entries with all their subaddresses: an entry for
	// bob@example.net also applies to bob+anything@example.net. Only development mode sets them. For foreign
	// domains the receiving server decides to which mailbox a subaddress belongs, so we do not guess.
	Mailboxes []string
}

// ConfigOf returns the module's part of the installation's configuration.
func ConfigOf(cfg setting.Values) Config { return Config{BaseURL: config.BaseURL.Get(cfg)} }

// Validate reports every invalid setting.
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
