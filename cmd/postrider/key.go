package main

import (
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
)

type keyCommand struct {
	Create keyCreateCommand `cmd:"" help:"Make an API key; print it and its secret, which is shown this once, as JSON."`
	Revoke keyRevokeCommand `cmd:"" help:"End an API key: no process accepts it five seconds later."`
}

type keyRevokeCommand struct {
	toolSettings

	Account string `help:"Whose key it is." placeholder:"acc_…" required:""`
	Key     string `help:"The key's id."    placeholder:"key_…" required:""`
}

func (c *keyRevokeCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	type key struct {
		ID        string    `json:"id"`
		RevokedAt time.Time `json:"revoked_at"`
	}
	return withAccounts(s.ctx, cfg, func(service *accounts.Service) error {
		revoked, err := service.RevokeKey(s.ctx, c.Account, c.Key)
		if err != nil {
			return err
		}
		return s.print(map[string]key{"api_key": {c.Key, revoked.RevokedAt.UTC()}})
	})
}

type keyCreateCommand struct {
	toolSettings

	Account   string     `help:"Whose key it is."                           placeholder:"acc_…" required:""`
	Name      string     `help:"To recognise the key by."                   placeholder:"NAME"  required:""`
	Scope     string     `default:"full"                                    enum:"full,sending,read" help:"full, sending or read."`
	DomainID  []string   `help:"Domains that it may send from (all)."       name:"domain-id"    placeholder:"dom_…"`
	ExpiresAt *time.Time `help:"When it ends, as 2027-01-31T00:00:00Z (never)." name:"expires-at" placeholder:"TIME"`
}

func (c *keyCreateCommand) key() accounts.NewKey {
	return accounts.NewKey{AccountID: c.Account, Name: c.Name, Scope: rights.Scope(c.Scope), DomainIDs: c.DomainID, ExpiresAt: c.ExpiresAt}
}

func (c *keyCreateCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withAccounts(s.ctx, cfg, func(service *accounts.Service) error {
		made, secret, err := service.CreateKey(s.ctx, c.key())
		if err != nil {
			return err
		}
		return s.print(keyMade(made.ID, secret.Reveal(), c))
	})
}

func keyMade(id, secret string, c *keyCreateCommand) any {
	type key struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Scope string `json:"scope"`
	}
	return struct {
		APIKey key    `json:"api_key"`
		Secret string `json:"secret"`
	}{key{id, c.Name, c.Scope}, secret}
}
