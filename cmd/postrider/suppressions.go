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
	output

	Addresses []string `arg:"" help:"Addresses." name:"address" sep:"none"`
}

// Run adds the addresses in order and ends at the first that is refused. The output contains those before it.
func (c *suppressionsAddCommand) Run(s *session) (err error) {
	added := []json.RawMessage{}
	if c.JSON {
		defer func() { err = errors.Join(s.print(map[string]any{"suppressions": added}), err) }()
	}
	for _, address := range c.Addresses {
		var answer struct{ Suppression json.RawMessage }
		if err := c.do(s, client.Request{Method: http.MethodPost, Path: "/suppressions",
			Body: map[string]string{"email": address}}, &answer); err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
		added = append(added, answer.Suppression)
		if c.JSON {
			continue
		}
		fields, err := decodeItem(answer.Suppression)
		if err != nil {
			return err
		}
		id := formatCell(fields["id"])
		if err := c.printDone(s, nil, []string{id}, "%s  %s  %s\n", id, address, formatCell(fields["reason"])); err != nil {
			return err
		}
	}
	return nil
}

type suppressionsRemoveCommand struct {
	remote
	output

	Addresses []string `arg:"" help:"Addresses, or IDs of entries." name:"address" sep:"none"`
}

// Run removes all entries that exist. The error names the others.
func (c *suppressionsRemoveCommand) Run(s *session) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	type entry struct {
		ID      string `json:"id"`
		Address string `json:"address"`
	}
	var failed []error
	removed := []entry{}
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
			removed = append(removed, entry{id, address})
			if c.JSON {
				continue
			}
			if err := c.printDone(s, nil, []string{id}, "%s  %s  removed\n", id, address); err != nil {
				return err
			}
		}
	}
	if c.JSON {
		failed = append(failed, s.print(map[string]any{"removed": removed}))
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

	exportTarget
}

func (c *suppressionsExportCommand) Run(s *session) error {
	return c.write(s, c.remote, "/suppressions/export", queryOf("reason", c.Reason, "format", c.Format))
}
