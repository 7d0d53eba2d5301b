package development

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	inboxpages "github.com/postrider/postrider/rest/pages/devinbox"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/store"
)

// Ready is the content of the file for tools that start Postrider. Disabled parts are null.
type Ready struct {
	PID            int     `json:"pid"`
	PostgresPID    *int    `json:"postgres_pid"`
	DatabaseURL    string  `json:"database_url"`
	BaseURL        string  `json:"base_url"`
	APIURL         string  `json:"api_url"`
	GraphQLURL     string  `json:"graphql_url"`
	InboxURL       *string `json:"inbox_url"`
	DashboardURL   string  `json:"dashboard_url"`
	AccountID      string  `json:"account_id"`
	AccountEmail   string  `json:"account_email"`
	APIKey         string  `json:"api_key"`
	VerifiedDomain *string `json:"verified_domain"`
	Owner          *Owner  `json:"owner"`
	Relay          *Relay  `json:"relay"`
	InboundAddr    *string `json:"inbound_addr"`
}

// Owner is the owner of the account, and how to sign in as that user.
type Owner struct {
	Email    string `json:"email"`
	Password string `json:"password"`

	link string // signs the owner in any number of times while the process runs
}

// Relay contains the addresses and the credential for submitting mail over SMTP.
type Relay struct {
	Addr     string `json:"addr"`     // STARTTLS
	TLSAddr  string `json:"tls_addr"` // TLS from the first byte
	Username string `json:"username"`
	Password string `json:"password"`
}

// write writes the file under another name and renames it, so that a reader never sees part of it. Only the
// owner may read the file, because it contains the API key.
func (r Ready) write(file string) error {
	var content bytes.Buffer
	encoder := json.NewEncoder(&content)
	encoder.SetIndent("", "  ")
	// URLs must also be readable by people.
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil { //nolint:gosec // the file exists to pass on the key
		return err
	}
	beside := file + ".new"
	if err := os.WriteFile(beside, content.Bytes(), 0o600); err != nil {
		return fmt.Errorf("--ready-file: %w", err)
	}
	if err := os.Rename(beside, file); err != nil {
		return fmt.Errorf("--ready-file: %w", err)
	}
	return nil
}

// ready collects the addresses and credentials of the seeded data and the enabled parts.
func (s Seeder) ready(cfg setting.Values, opened *store.Store, d seeded) Ready {
	r := Ready{PID: os.Getpid(), DatabaseURL: opened.URL, BaseURL: config.BaseURL.Get(cfg),
		APIURL:     config.BaseURL.Get(cfg) + "/api",
		GraphQLURL: config.BaseURL.Get(cfg) + "/graphql", DashboardURL: config.BaseURL.Get(cfg) + "/",
		AccountID: d.accountID, AccountEmail: d.email, APIKey: d.apiKey, Relay: d.relay}
	if pid := opened.ServerPID(); pid != 0 {
		r.PostgresPID = &pid
	}
	if d.owner != nil {
		r.Owner, r.DashboardURL = d.owner, d.owner.link
	}
	if d.domain != "" {
		r.VerifiedDomain = &d.domain
	}
	if s.Inbox != nil {
		r.InboxURL = new(config.BaseURL.Get(cfg) + inboxpages.Prefix)
	}
	if s.Inbound != nil {
		r.InboundAddr = new(s.Inbound.Addr())
	}
	return r
}
