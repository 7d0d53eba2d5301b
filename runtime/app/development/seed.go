package development

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/relay"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/app/listeners"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
)

// Development mode seeds one account, so that you can send the first request without any setup. A second
// start reuses it.
const (
	devEmail = "dev@dev.test"
	devName  = "Development"
	Domain   = "dev.test" // the account's domain, which is already verified
	devKey   = "development"
	keyFile  = "api-key" // below the data directory: the database has only the key's hash

	passwordFile = "smtp-password" // for the same reason
	ownerFile    = "owner-password"
)

// Seeder contains the services that development mode seeds. The service of a disabled module is nil.
type Seeder struct {
	fx.In

	Accounts *accounts.Service
	Domains  *domains.Service        `optional:"true"`
	Inbound  *listeners.Inbound      // nil if no mail is received
	Received *inbound.Service        `optional:"true"`
	Relay    *relay.Credentials      `optional:"true"`
	SignIn   *signin.Service         `optional:"true"`
	Listed   *suppression.Service    `optional:"true"`
	Played   devinbox.Config         `optional:"true"`
	Sockets  *listeners.RelaySockets `optional:"true"`
	Inbox    *devinbox.Service       `optional:"true"`
	Shown    *SeedStore              `optional:"true"`
}

// seeded contains the objects that development mode has created or found.
type seeded struct {
	accountID, email, apiKey, domain string
	owner                            *Owner // nil if sign-in is disabled
	relay                            *Relay
}

// seed creates the account, a key and a verified domain, or finds the existing ones.
func (s Seeder) seed(ctx context.Context, dataDir string) (seeded, error) {
	account, err := s.Accounts.EnsureAccount(ctx,
		accounts.NewAccount{Name: devName, Email: devEmail, OwnerName: devName,
			Plan: accounts.PlanPro, ProductionUnlocked: true, Unmetered: true})
	if err != nil {
		return seeded{}, fmt.Errorf("development account: %w", err)
	}
	key, err := devSecret(filepath.Join(dataDir, keyFile), accounts.KeyPrefix)
	if err != nil {
		return seeded{}, fmt.Errorf("development key: %w", err)
	}
	if _, err := s.Accounts.EnsureKey(ctx, account.ID, devKey, key, rights.ScopeFull); err != nil {
		return seeded{}, fmt.Errorf("development key: %w", err)
	}
	out := seeded{accountID: account.ID, email: account.Email, apiKey: key.Reveal()}
	if out.owner, err = s.ensureOwner(ctx, dataDir); err != nil {
		return seeded{}, fmt.Errorf("development owner: %w", err)
	}
	if s.Domains != nil {
		domain, err := s.Domains.EnsureSeeded(ctx, account.ID, Domain)
		if err != nil {
			return seeded{}, fmt.Errorf("development domain: %w", err)
		}
		out.domain = Domain
		if s.Received != nil && !domain.InboundEnabled {
			if _, err := s.Domains.Update(ctx, account.ID, domain.ID,
				domains.DomainChange{InboundEnabled: new(true)}); err != nil {
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
		out.relay = &Relay{Addr: s.Sockets.StartTLS.Addr().String(), TLSAddr: s.Sockets.Implicit.Addr().String(),
			Username: relay.Username, Password: password.Reveal()}
	}
	return out, nil
}

// ensureOwner returns the account's owner, who can sign in with a password or with the link.
func (s Seeder) ensureOwner(ctx context.Context, dataDir string) (*Owner, error) {
	if s.SignIn == nil {
		return nil, nil //nolint:nilnil // sign-in is disabled
	}
	password, err := devSecret(filepath.Join(dataDir, ownerFile), "")
	if err != nil {
		return nil, err
	}
	link, err := s.SignIn.EnsureDevelopmentOwner(ctx, devEmail, password)
	if err != nil {
		return nil, err
	}
	return &Owner{Email: devEmail, Password: password.Reveal(), link: link}, nil
}

// suppress adds the addresses that simulate suppression to the account's suppression list.
func (s Seeder) suppress(ctx context.Context, accountID string) error {
	if s.Listed == nil {
		return nil
	}
	for _, address := range s.Played.SuppressedAddresses() {
		if _, err := s.Listed.Add(ctx, accountID, suppression.NewSuppression{Email: address}); err != nil {
			return fmt.Errorf("suppress %s: %w", address, err)
		}
	}
	return nil
}

// devSecret reads a secret from its file. The first call creates the file with a secret that starts with prefix.
func devSecret(file, prefix string) (secret.String, error) {
	text, err := os.ReadFile(file)
	if err == nil {
		return secret.New(string(text)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return secret.String{}, err
	}
	made, _ := secret.NewToken(prefix + id.KeyTag())
	return made, os.WriteFile(file, []byte(made.Reveal()), 0o600)
}
