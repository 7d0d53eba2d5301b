package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/postrider/postrider/cmd/postrider/client"
)

type domainsPublishCommand struct {
	remote
	domainName
	output

	Provider    string `required:"" help:"The DNS provider, such as cloudflare, or rfc2136 for your own name server."`
	Credentials string `required:"" help:"JSON file with the provider's credentials by name; - reads standard input." placeholder:"FILE"`
	Write       bool   `help:"Write the changes. By default, they are only printed."`
	DMARC       string `name:"dmarc" help:"Write only this DMARC record, in place of the existing one. advice: the record that the policy adviser proposes." placeholder:"RECORD"`
}

// Run prints the changes, and writes them with --write.
func (c *domainsPublishCommand) Run(s *session) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	path, err := c.path(s, server)
	if err != nil {
		return err
	}
	body, err := c.body(s, server, path)
	if err != nil {
		return err
	}
	var answer json.RawMessage
	if err := server.Do(s.ctx, client.Request{Method: http.MethodPost, Path: path + "/dns-records/apply", Body: body},
		&answer); err != nil {
		return err
	}
	if c.JSON {
		return s.printJSON(answer)
	}
	var changes map[string]json.RawMessage
	if err := json.Unmarshal(answer, &changes); err != nil {
		return err
	}
	return c.printChanges(s, changes)
}

func (c *domainsPublishCommand) body(s *session, server client.Server, path string) (map[string]any, error) {
	text, err := readText(c.Credentials)
	if err != nil {
		return nil, err
	}
	var credentials map[string]string
	if err := json.Unmarshal([]byte(text), &credentials); err != nil {
		return nil, errors.New("the file of credentials must contain a JSON object of strings")
	}
	body := map[string]any{"provider": c.Provider, "credentials": credentials, "dry_run": !c.Write}
	record := c.DMARC
	if record == "advice" {
		if record, err = readAdvice(s, server, path); err != nil {
			return nil, err
		}
	}
	if record != "" {
		body["dmarc_record"] = record
	}
	return body, nil
}

// readAdvice returns the DMARC record that the policy adviser proposes.
func readAdvice(s *session, server client.Server, path string) (string, error) {
	var answer struct {
		Deliverability struct {
			Advice struct {
				Reason string  `json:"reason"`
				Record *string `json:"record"`
			} `json:"advice"`
		} `json:"deliverability"`
	}
	err := server.Do(s.ctx, client.Request{Method: http.MethodGet, Path: path + "/deliverability"}, &answer)
	if advice := answer.Deliverability.Advice; err == nil && advice.Record == nil {
		return "", fmt.Errorf("the adviser proposes no change: %s", clean(advice.Reason))
	} else if err != nil {
		return "", err
	}
	return *answer.Deliverability.Advice.Record, nil
}

func (c *domainsPublishCommand) printChanges(s *session, changes map[string]json.RawMessage) error {
	titles := [][2]string{{"applied", "To be written"}, {"unchanged", "Already published"},
		{"conflicts", "Conflicting records, left unchanged"}}
	if c.Write {
		titles[0][1] = "Written"
	}
	for _, title := range titles {
		var rows []map[string]any
		if err := json.Unmarshal(changes[title[0]], &rows); err != nil {
			return err
		}
		if len(rows) == 0 || c.Quiet {
			continue
		}
		fmt.Fprintf(s.out, "%s:\n", title[1])
		if err := s.printRows(rows, "type", "name", "before", "after", "reason"); err != nil {
			return err
		}
	}
	if !c.Write && !c.Quiet {
		fmt.Fprintln(s.out, "Nothing was written. Repeat with --write to publish.")
	}
	return nil
}
