package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/postrider/postrider/cmd/postrider/client"
)

type receivedCommand struct {
	List receivedListCommand `cmd:"" help:"List received emails, newest first."`
	Get  receivedGetCommand  `cmd:"" help:"Print a received email."`
}

type receivedListCommand struct {
	listFlags

	Search string `help:"Search query, in the syntax of the search field of the dashboard." placeholder:"WORDS" short:"s"`
	From   string `help:"Only emails from this sender." placeholder:"ADDRESS"`
	To     string `help:"Only emails to this address." placeholder:"ADDRESS"`
	Domain string `help:"Only emails to this domain." placeholder:"NAME"`
	Since  string `help:"Only emails since a time, or an age such as 2h." placeholder:"WHEN"`
}

func (c *receivedListCommand) Run(s *session) error {
	since, err := parseTime("--since", c.Since)
	if err != nil {
		return err
	}
	return c.list(s, "/received-emails", "received_emails", queryOf("q", c.Search, "from", c.From, "to", c.To,
		"domain", c.Domain, "since", since), "id", "from", "rcpt_to", "subject", "attachment_count", "received_at")
}

type receivedGetCommand struct {
	remote
	output

	ID  string `arg:"" help:"ID of the received email."`
	Raw bool   `help:"Print the message as it arrived (RFC 5322)." xor:"form"`
}

func (c *receivedGetCommand) Run(s *session) error {
	path := "/received-emails/" + url.PathEscape(c.ID)
	if c.Raw {
		server, err := c.server()
		if err != nil {
			return err
		}
		return server.Copy(s.ctx, client.Request{Method: http.MethodGet, Path: path + "/raw"}, s.out)
	}
	var answer struct {
		Email json.RawMessage `json:"received_email"`
	}
	if err := c.do(s, client.Request{Method: http.MethodGet, Path: path}, &answer); err != nil {
		return err
	}
	if err := c.printItem(s, answer.Email, "id", "from", "rcpt_to", "to", "cc", "subject", "received_at", "size",
		"spam_status", "attachments", "defects"); err != nil || c.JSON || c.Quiet {
		return err
	}
	var email struct {
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(answer.Email, &email); err != nil || email.Text == nil {
		return err
	}
	_, err := fmt.Fprintf(s.out, "\n%s\n", cleanLines(*email.Text))
	return err
}
