package main

import (
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/desk"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/runtime/storage/page"
)

type operatorKeyCommand struct {
	Create operatorKeyCreateCommand `cmd:"" help:"Create an operator key and print it as JSON. Its secret is shown only once."`
	List   operatorKeyListCommand   `cmd:"" help:"List the operator keys as JSON, newest first."`
	Revoke operatorKeyRevokeCommand `cmd:"" help:"Revoke an operator key. It stops working within 5 seconds."`
}

// operatorKeyView is the JSON of an operator key.
type operatorKeyView struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Prefix     string     `json:"prefix"`
	AllowedIPs []string   `json:"allowed_ips"`
	ExpiresAt  *time.Time `json:"expires_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	LastUsedIP *string    `json:"last_used_ip"`
	RevokedAt  *time.Time `json:"revoked_at"`
	CreatedAt  time.Time  `json:"created_at"`
}

func operatorKeyViewOf(k *ent.OperatorKey) operatorKeyView {
	return operatorKeyView{ID: k.ID, Name: k.Name, Prefix: k.Prefix, AllowedIPs: append([]string{}, k.AllowedIps...),
		ExpiresAt: k.ExpiresAt, LastUsedAt: k.LastUsedAt, LastUsedIP: k.LastUsedIP, RevokedAt: k.RevokedAt,
		CreatedAt: k.CreatedAt.UTC()}
}

type operatorKeyCreateCommand struct {
	toolSettings

	Name      string     `help:"Name that identifies the key." placeholder:"NAME" required:""`
	AllowedIP []string   `help:"Networks or addresses that the key can be used from (default: all)." name:"allowed-ip" placeholder:"CIDR"`
	ExpiresAt *time.Time `help:"Expiry, such as 2027-01-31T00:00:00Z (default: never)." name:"expires-at" placeholder:"TIME"`
}

func (c *operatorKeyCreateCommand) Run(s *session) error {
	return c.withDesk(s, func(service *desk.Service) error {
		made, token, err := service.CreateKey(s.ctx, accounts.Caller{},
			accounts.NewOperatorKey{Name: c.Name, AllowedIPs: c.AllowedIP, ExpiresAt: c.ExpiresAt}, nil)
		if err != nil {
			return err
		}
		return s.print(struct {
			Key    operatorKeyView `json:"operator_key"`
			Secret string          `json:"secret"`
		}{operatorKeyViewOf(made), token.Reveal()})
	})
}

type operatorKeyListCommand struct{ toolSettings }

func (c *operatorKeyListCommand) Run(s *session) error {
	return c.withDesk(s, func(service *desk.Service) error {
		all, r := []operatorKeyView{}, page.Request{Limit: page.MaxLimit}
		for {
			found, err := service.Keys(s.ctx, accounts.Caller{}, r)
			if err != nil {
				return err
			}
			for _, k := range found.Items {
				all = append(all, operatorKeyViewOf(k))
			}
			if r.Cursor = found.NextCursor; !found.HasMore {
				return s.print(map[string][]operatorKeyView{"operator_keys": all})
			}
		}
	})
}

type operatorKeyRevokeCommand struct {
	toolSettings

	Key string `arg:"" help:"ID of the key." placeholder:"opk_…"`
}

func (c *operatorKeyRevokeCommand) Run(s *session) error {
	return c.withDesk(s, func(service *desk.Service) error {
		revoked, err := service.RevokeKey(s.ctx, accounts.Caller{}, c.Key)
		if err != nil {
			return err
		}
		return s.print(map[string]operatorKeyView{"operator_key": operatorKeyViewOf(revoked)})
	})
}

// withDesk is withStore for commands about the installation.
func (t toolSettings) withDesk(s *session, do func(*desk.Service) error) error {
	return t.withStore(s, func(of services) error {
		service, err := of.accounts()
		if err != nil {
			return err
		}
		return do(desk.New(of.store.DB, service, plans.New(of.store.DB, service), of.store.Cursors()))
	})
}
