package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/postrider/postrider/cmd/postrider/client"
)

type keysCommand struct {
	Create keysCreateCommand `cmd:"" help:"Create an API key and print its secret."`
	List   keysListCommand   `cmd:"" help:"List API keys, newest first."`
	Rotate keysRotateCommand `cmd:"" help:"Replace an API key and print the new secret."`
	Revoke keysRevokeCommand `cmd:"" help:"Revoke an API key. It stops working within 5 seconds."`
}

type keysCreateCommand struct {
	remote
	output

	Name       string   `arg:"" help:"Name that identifies the key."`
	Scope      string   `default:"full" enum:"full,sending,read" help:"What the key may do: full, sending or read."`
	Permission []string `help:"Allow only these kinds of access, such as emails:send." placeholder:"NAME,..."`
	Domain     []string `help:"Send from these domains only: names or IDs." placeholder:"NAME,..."`
	AllowedIP  []string `help:"Accept the key from these addresses or networks only." name:"allowed-ip" placeholder:"CIDR,..."`
	ExpiresAt  string   `help:"When the key expires (default: never)." name:"expires-at" placeholder:"2026-01-31T12:00:00Z"`
}

func (c *keysCreateCommand) Run(s *session) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	body := map[string]any{"name": c.Name, "scope": c.Scope}
	if len(c.Permission) > 0 {
		body["permissions"] = c.Permission
	}
	var domains []string
	for _, name := range c.Domain {
		id, err := findDomain(s, server, name)
		if err != nil {
			return err
		}
		domains = append(domains, id)
	}
	if len(domains) > 0 {
		body["domain_ids"] = domains
	}
	if len(c.AllowedIP) > 0 {
		body["allowed_ips"] = c.AllowedIP
	}
	if c.ExpiresAt != "" {
		body["expires_at"] = c.ExpiresAt
	}
	var answer json.RawMessage
	if err := server.Do(s.ctx, client.Request{Method: http.MethodPost, Path: "/api-keys", Body: body}, &answer); err != nil {
		return err
	}
	return c.printNewKey(s, answer)
}

// printNewKey prints a new key and its secret; with --quiet, only the secret.
func (o output) printNewKey(s *session, answer json.RawMessage) error {
	if o.JSON {
		return s.printJSON(answer)
	}
	var made struct {
		APIKey json.RawMessage `json:"api_key"`
		Secret string          `json:"secret"`
	}
	if err := json.Unmarshal(answer, &made); err != nil {
		return err
	}
	if o.Quiet {
		_, err := fmt.Fprintln(s.out, made.Secret)
		return err
	}
	if err := o.printItem(s, made.APIKey, "id", "name", "scope", "domain_ids", "allowed_ips", "expires_at"); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.out, "\nSecret (shown once): %s\n", made.Secret)
	return err
}

type keysListCommand struct{ listFlags }

func (c *keysListCommand) Run(s *session) error {
	return c.list(s, "/api-keys", "api_keys", nil, "id", "name", "prefix", "scope", "last_used_at", "expires_at",
		"revoked_at")
}

type keysRotateCommand struct {
	remote
	output

	ID      string        `arg:"" help:"ID of the key."`
	Overlap time.Duration `default:"24h" help:"How long the old key keeps working (default: 24h). 0s ends it immediately." placeholder:"DURATION"`
}

func (c *keysRotateCommand) Run(s *session) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	var answer json.RawMessage
	if err := server.Do(s.ctx, client.Request{Method: http.MethodPost,
		Path: "/api-keys/" + url.PathEscape(c.ID) + "/rotate",
		Body: map[string]any{"overlap_seconds": int(c.Overlap.Seconds())}}, &answer); err != nil {
		return err
	}
	return c.printNewKey(s, answer)
}

type keysRevokeCommand struct {
	remote
	output

	ID string `arg:"" help:"ID of the key."`
}

func (c *keysRevokeCommand) Run(s *session) error {
	if err := c.do(s, client.Request{Method: http.MethodDelete, Path: "/api-keys/" + url.PathEscape(c.ID)}, nil); err != nil {
		return err
	}
	return c.printDone(s, map[string]string{"revoked": c.ID}, []string{c.ID}, "%s revoked\n", c.ID)
}
