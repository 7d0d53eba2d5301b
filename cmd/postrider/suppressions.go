package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/postrider/postrider/cmd/postrider/client"
)

type suppressionsCommand struct {
	List   suppressionsListCommand   `cmd:"" help:"List suppressed addresses, newest first."`
	Add    suppressionsAddCommand    `cmd:"" help:"Suppress addresses, so that the account cannot send to them."`
	Import suppressionsImportCommand `cmd:"" help:"Suppress the addresses in a file exported from another provider."`
	Remove suppressionsRemoveCommand `cmd:"" help:"Remove addresses from the suppression list."`
	Export suppressionsExportCommand `cmd:"" help:"Export the suppression list as JSON Lines or CSV."`
}

type suppressionsListCommand struct {
	listFlags

	Email  string `help:"Only this address." placeholder:"ADDRESS"`
	Reason string `help:"Only addresses suppressed for this reason." placeholder:"REASON"`
}

func (c *suppressionsListCommand) Run(s *session) error {
	return c.list(s, "/suppressions", "suppressions", queryOf("email", c.Email, "reason", c.Reason), "id", "email",
		"reason", "email_id", "created_at")
}

type suppressionsAddCommand struct {
	remote

	Addresses []string `arg:"" help:"Addresses." name:"address" sep:"none"`
}

func (c *suppressionsAddCommand) Run(s *session) error {
	for _, address := range c.Addresses {
		var answer struct{ Suppression struct{ ID, Reason string } }
		if err := c.do(s, client.Request{Method: http.MethodPost, Path: "/suppressions",
			Body: map[string]string{"email": address}}, &answer); err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
		fmt.Fprintf(s.out, "%s  %s  %s\n", answer.Suppression.ID, address, answer.Suppression.Reason)
	}
	return nil
}

type suppressionsRemoveCommand struct {
	remote

	Addresses []string `arg:"" help:"Addresses, or IDs of entries." name:"address" sep:"none"`
}

// Run removes all entries that exist. The error names the others.
func (c *suppressionsRemoveCommand) Run(s *session) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	var failed []error
	for _, address := range c.Addresses {
		ids := []string{address}
		if strings.Contains(address, "@") {
			if ids, err = listIDs(s, server, "/suppressions", "suppressions", queryOf("email", address)); err != nil {
				return err
			}
		}
		if len(ids) == 0 {
			failed = append(failed, fmt.Errorf("%s is not suppressed", address))
		}
		for _, id := range ids {
			if err := server.Do(s.ctx, client.Request{Method: http.MethodDelete,
				Path: "/suppressions/" + url.PathEscape(id)}, nil); err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", address, err))
				continue
			}
			fmt.Fprintf(s.out, "%s  %s  removed\n", id, address)
		}
	}
	return errors.Join(failed...)
}

// listIDs returns the IDs of a list.
func listIDs(s *session, server client.Server, path, name string, query url.Values) (ids []string, err error) {
	err = server.List(s.ctx, path, name, query, 0, func(item json.RawMessage) error {
		var one struct {
			ID string `json:"id"`
		}
		err := json.Unmarshal(item, &one)
		ids = append(ids, one.ID)
		return err
	})
	return ids, err
}

type suppressionsExportCommand struct {
	remote

	Reason string `help:"Only addresses suppressed for this reason." placeholder:"REASON"`
	Format string `default:"jsonl" enum:"jsonl,csv" help:"jsonl or csv."`
	Out    string `help:"File to write; it appears when it is complete (default: standard output)." placeholder:"FILE" short:"o"`
}

func (c *suppressionsExportCommand) Run(s *session) error {
	return c.writeExport(s, "/suppressions/export", queryOf("reason", c.Reason, "format", c.Format), c.Out)
}
