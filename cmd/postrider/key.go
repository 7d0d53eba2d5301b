package main

import (
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
)

type keyCommand struct {
	Create keyCreateCommand `cmd:"" help:"Create an API key and print it as JSON. Its secret is shown only once."`
	Revoke keyRevokeCommand `cmd:"" help:"Revoke an API key. It stops working within 5 seconds."`
}

type keyRevokeCommand struct {
	toolSettings

	Account string `help:"Account of the key, by email or ID." placeholder:"EMAIL" required:""`
	Key     string `help:"ID of the key." placeholder:"key_…" required:""`
}

func (c *keyRevokeCommand) Run(s *session) error {
	type key struct {
		ID        string    `json:"id"`
		RevokedAt time.Time `json:"revoked_at"`
	}
	return c.withAccounts(s, func(service *accounts.Service) error {
		account, err := service.Find(s.ctx, c.Account)
		if err != nil {
			return err
		}
		revoked, err := service.RevokeKey(s.ctx, account.ID, c.Key)
		if err != nil {
			return err
		}
		return s.print(map[string]key{"api_key": {c.Key, revoked.RevokedAt.UTC()}})
	})
}

type keyCreateCommand struct {
	toolSettings

	Account    string     `help:"Account of the key, by email or ID." placeholder:"EMAIL" required:""`
	Name       string     `help:"Name that identifies the key." placeholder:"NAME" required:""`
	Scope      string     `default:"full" enum:"full,sending,read" help:"full, sending or read."`
	Permission []string   `help:"Kinds of access within the scope, such as emails:send (default: all)." placeholder:"NAME"`
	DomainID   []string   `help:"Domains that the key may send from (default: all)." name:"domain-id" placeholder:"dom_…"`
	AllowedIP  []string   `help:"Networks or addresses that the key can be used from (default: all)." name:"allowed-ip" placeholder:"CIDR"`
	ExpiresAt  *time.Time `help:"Expiry, such as 2027-01-31T00:00:00Z (default: never)." name:"expires-at" placeholder:"TIME"`
}

func (c *keyCreateCommand) newKey(accountID string) accounts.NewKey {
	permissions := make([]rights.Permission, len(c.Permission))
	for i, name := range c.Permission {
		permissions[i] = rights.Permission(name)
	}
	return accounts.NewKey{AccountID: accountID, Name: c.Name, Scope: rights.Scope(c.Scope), Permissions: permissions, DomainIDs: c.DomainID,
		AllowedIPs: c.AllowedIP, ExpiresAt: c.ExpiresAt}
}

func (c *keyCreateCommand) Run(s *session) error {
	return c.withAccounts(s, func(service *accounts.Service) error {
		account, err := service.Find(s.ctx, c.Account)
		if err != nil {
			return err
		}
		made, secret, err := service.CreateKey(s.ctx, c.newKey(account.ID))
		if err != nil {
			return err
		}
		return s.print(createdKey(made.ID, secret.Reveal(), c))
	})
}

func createdKey(id, secret string, c *keyCreateCommand) any {
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
