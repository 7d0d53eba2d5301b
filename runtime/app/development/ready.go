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

// Ready is what tools that start Postrider read. Parts that are switched off are null.
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

// Owner is who owns the account, and how they sign in.
type Owner struct {
	Email    string `json:"email"`
	Password string `json:"password"`

	link string // signs them in as often as it is opened, while the process runs
}

// Relay is how to hand in mail over SMTP.
type Relay struct {
	Addr     string `json:"addr"`     // STARTTLS
	TLSAddr  string `json:"tls_addr"` // TLS from the first octet
	Username string `json:"username"`
	Password string `json:"password"`
}

// write writes the file under another name and renames it, so that a reader sees all of it
// or nothing. Only the owner may read the file, because the API key is in it.
func (r Ready) write(file string) error {
	var content bytes.Buffer
	encoder := json.NewEncoder(&content)
	encoder.SetIndent("", "  ")
	// URLs are to be read by people too.
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil { //nolint:gosec // handing the key over is what the file is for
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

// ready says where everything is, of what was seeded and what is on.
func (s Seeder) ready(cfg setting.Values, opened *store.Store, d seeded) Ready {
	r := Ready{PID: os.Getpid(), DatabaseURL: opened.URL, BaseURL: config.BaseURL.Of(cfg), APIURL: config.BaseURL.Of(cfg) + "/api",
		GraphQLURL: config.BaseURL.Of(cfg) + "/graphql", DashboardURL: config.BaseURL.Of(cfg) + "/",
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
		r.InboxURL = new(config.BaseURL.Of(cfg) + inboxpages.Prefix)
	}
	if s.Inbound != nil {
		r.InboundAddr = new(s.Inbound.Addr())
	}
	return r
}
