package assembly

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/relay"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/assembly/listeners"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/secret"
	"github.com/postrider/postrider/runtime/store"
)

// Development mode seeds one account, so that the first request can be made
// without setting anything up. A second start finds them again.
const (
	devEmail  = "dev@dev.test"
	devName   = "Development"
	devDomain = "dev.test"
	devKey    = "development"
	keyFile   = "api-key" // below the data directory: the database has only the key's hash

	passwordFile = "smtp-password" // likewise
)

// seeder makes what a run needs to find in the database.
type seeder struct {
	fx.In

	Accounts *accounts.Service
	Domains  *domains.Service        `optional:"true"`
	Inbound  *listeners.Inbound      // nil: no mail comes in
	Received *inbound.Service        `optional:"true"`
	Relay    *relay.Service          `optional:"true"`
	Listed   *suppression.Service    `optional:"true"`
	Played   devinbox.Config         `optional:"true"`
	Sockets  *listeners.RelaySockets `optional:"true"`
}

// seeded is what development mode has made, or found.
type seeded struct {
	accountID, email, apiKey, domain string
	relay                            *ReadyRelay
}

// sandbox makes the installation's own domain. Every mode has it.
func (s seeder) sandbox(ctx context.Context) error {
	if s.Domains == nil {
		return nil
	}
	if _, err := s.Domains.EnsureSandbox(ctx); err != nil {
		return fmt.Errorf("sandbox domain: %w", err)
	}
	return nil
}

// development makes the account, a key and a domain that counts as verified.
func (s seeder) development(ctx context.Context, dataDir string) (seeded, error) {
	account, err := s.Accounts.EnsureAccount(ctx, accounts.NewAccount{Name: devName, Email: devEmail, OwnerName: devName,
		Plan: accounts.PlanPro, ProductionUnlocked: true, Unmetered: true})
	if err != nil {
		return seeded{}, fmt.Errorf("development account: %w", err)
	}
	key, err := devSecret(filepath.Join(dataDir, keyFile), accounts.KeyPrefix)
	if err != nil {
		return seeded{}, fmt.Errorf("development key: %w", err)
	}
	if _, err := s.Accounts.EnsureKey(ctx, account.ID, devKey, key, accounts.ScopeFull); err != nil {
		return seeded{}, fmt.Errorf("development key: %w", err)
	}
	out := seeded{accountID: account.ID, email: account.Email, apiKey: key.Reveal()}
	if s.Domains != nil {
		domain, err := s.Domains.EnsureSeeded(ctx, account.ID, devDomain)
		if err != nil {
			return seeded{}, fmt.Errorf("development domain: %w", err)
		}
		out.domain = devDomain
		if s.Received != nil && !domain.InboundEnabled {
			if _, err := s.Domains.Update(ctx, account.ID, domain.ID, domains.Change{InboundEnabled: new(true)}); err != nil {
				return seeded{}, fmt.Errorf("development domain: %w", err)
			}
		}
	}
	if err := s.suppress(ctx, account.ID); err != nil {
		return seeded{}, err
	}
	if s.Relay != nil {
		password, err := devSecret(filepath.Join(dataDir, passwordFile), relay.PasswordPrefix)
		if err == nil {
			_, err = s.Relay.Ensure(ctx, account.ID, devKey, password)
		}
		if err != nil {
			return seeded{}, fmt.Errorf("development SMTP credential: %w", err)
		}
		out.relay = &ReadyRelay{Addr: s.Sockets.StartTLS.Addr().String(), TLSAddr: s.Sockets.Implicit.Addr().String(), Username: relay.Username, Password: password.Reveal()}
	}
	return out, nil
}

// suppress puts the addresses on the account's list that count as suppressed.
func (s seeder) suppress(ctx context.Context, accountID string) error {
	if s.Listed == nil {
		return nil
	}
	for _, address := range s.Played.SuppressedAddresses() {
		if _, err := s.Listed.Add(ctx, accountID, suppression.AddInput{Email: address}); err != nil {
			return fmt.Errorf("suppress %s: %w", address, err)
		}
	}
	return nil
}

// devSecret reads the key's secret from its file, which it makes at first.
func devSecret(file, prefix string) (secret.String, error) {
	text, err := os.ReadFile(file)
	if err == nil {
		return secret.New(string(text)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return secret.String{}, err
	}
	made, _ := secret.NewToken(prefix)
	return made, os.WriteFile(file, []byte(made.Reveal()), 0o600)
}

// Ready is what tools that start Postrider read. Parts that do not exist in
// this version or are switched off are null.
type Ready struct {
	PID            int         `json:"pid"`
	PostgresPID    *int        `json:"postgres_pid"`
	DatabaseURL    string      `json:"database_url"`
	BaseURL        string      `json:"base_url"`
	APIURL         string      `json:"api_url"`
	GraphQLURL     string      `json:"graphql_url"`
	InboxURL       *string     `json:"inbox_url"`
	DashboardURL   string      `json:"dashboard_url"`
	AccountID      string      `json:"account_id"`
	AccountEmail   string      `json:"account_email"`
	APIKey         string      `json:"api_key"`
	VerifiedDomain *string     `json:"verified_domain"`
	Relay          *ReadyRelay `json:"relay"`
	InboundAddr    *string     `json:"inbound_addr"`
}

// ReadyRelay is how to hand in mail over SMTP.
type ReadyRelay struct {
	Addr     string `json:"addr"`     // STARTTLS
	TLSAddr  string `json:"tls_addr"` // TLS from the first octet
	Username string `json:"username"`
	Password string `json:"password"`
}

// writeReady writes beside the file and renames, so that a reader sees all of it
// or nothing. The key is in it: only the owner may read it.
func writeReady(file string, r Ready) error {
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

func newReady(cfg config.Config, s *store.Store, d seeded, inboxPath string) Ready {
	r := Ready{PID: os.Getpid(), DatabaseURL: s.URL, BaseURL: cfg.HTTP.BaseURL, APIURL: cfg.HTTP.BaseURL + "/api",
		GraphQLURL: cfg.HTTP.BaseURL + "/graphql", DashboardURL: cfg.HTTP.BaseURL + "/",
		AccountID: d.accountID, AccountEmail: d.email, APIKey: d.apiKey, Relay: d.relay}
	if pid := s.ServerPID(); pid != 0 {
		r.PostgresPID = &pid
	}
	if d.domain != "" {
		r.VerifiedDomain = &d.domain
	}
	if inboxPath != "" {
		url := cfg.HTTP.BaseURL + inboxPath
		r.InboxURL = &url
	}
	return r
}
