package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/postrider/postrider/cmd/postrider/client"
)

type webhooksCommand struct {
	Create webhooksCreateCommand `cmd:"" help:"Create a webhook endpoint and print its secret."`
	List   webhooksListCommand   `cmd:"" help:"List webhook endpoints, newest first."`
	Test   webhooksTestCommand   `cmd:"" help:"Send a test event to the endpoints that subscribe to its type."`
	Replay webhooksReplayCommand `cmd:"" help:"Replay one delivery, or those of an endpoint since a time."`
	Rotate webhooksRotateCommand `cmd:"" help:"Create a new secret and print it. The old one stays valid for a while."`
}

// printSecret prints a webhook endpoint and its secret.
func (o output) printSecret(s *session, answer json.RawMessage) error {
	if o.JSON {
		return s.printJSON(answer)
	}
	var made struct {
		Webhook json.RawMessage `json:"webhook"`
		Secret  string          `json:"secret"`
	}
	if err := json.Unmarshal(answer, &made); err != nil {
		return err
	}
	if err := o.printItem(s, made.Webhook, "id", "url", "events", "enabled"); err != nil || o.Quiet {
		return err
	}
	_, err := fmt.Fprintf(s.out, "\nSecret (shown once): %s\n", made.Secret)
	return err
}

type webhooksCreateCommand struct {
	remote
	output

	URL    string   `arg:"" help:"URL that receives events." name:"url"`
	Events []string `help:"Only events of these types (default: all)." placeholder:"TYPE,..."`
}

func (c *webhooksCreateCommand) Run(s *session) error {
	body := map[string]any{"url": c.URL}
	if len(c.Events) > 0 {
		body["events"] = c.Events
	}
	var answer json.RawMessage
	if err := c.do(s, client.Request{Method: http.MethodPost, Path: "/webhooks", Body: body}, &answer); err != nil {
		return err
	}
	return c.printSecret(s, answer)
}

type webhooksListCommand struct{ listFlags }

func (c *webhooksListCommand) Run(s *session) error {
	return c.list(s, "/webhooks", "webhooks", nil, "id", "url", "enabled", "events", "disabled_reason")
}

type webhooksTestCommand struct {
	remote
	output

	Event string `arg:"" default:"email.delivered" help:"Type of the event." optional:""`
}

func (c *webhooksTestCommand) Run(s *session) error {
	var answer json.RawMessage
	if err := c.do(s, client.Request{Method: http.MethodPost, Path: "/emails/test",
		Body: map[string]string{"event": c.Event}}, &answer); err != nil {
		return err
	}
	if c.JSON {
		return s.printJSON(answer)
	}
	var sent struct {
		Deliveries []string `json:"deliveries"`
	}
	if err := json.Unmarshal(answer, &sent); err != nil {
		return err
	}
	if len(sent.Deliveries) == 0 && !c.JSON {
		return fmt.Errorf("no enabled endpoint subscribes to %s", c.Event)
	}
	return c.printDone(s, answer, sent.Deliveries, "Queued %s for %d endpoints: %s\n", c.Event, len(sent.Deliveries),
		strings.Join(sent.Deliveries, ", "))
}

type webhooksReplayCommand struct {
	remote
	output

	ID    string `arg:"" help:"ID of a delivery, or of an endpoint together with --since."`
	Since string `help:"Replay the failed deliveries of the endpoint since a time, or an age such as 2h." placeholder:"WHEN"`
	All   bool   `help:"With --since: also replay successful deliveries."`
}

func (c *webhooksReplayCommand) Run(s *session) error {
	if c.Since == "" {
		if c.All || !strings.HasPrefix(c.ID, "whd_") {
			return misusef("--since: is required to replay the deliveries of an endpoint")
		}
		var answer json.RawMessage
		if err := c.do(s, client.Request{Method: http.MethodPost,
			Path: "/webhook-deliveries/" + url.PathEscape(c.ID) + "/replay"}, &answer); err != nil {
			return err
		}
		return c.printDone(s, answer, []string{c.ID}, "Queued %s again.\n", c.ID)
	}
	since, err := parseTime("--since", c.Since)
	if err != nil {
		return err
	}
	// Each request recovers a part of the deliveries.
	total, until := 0, time.Now().UTC().Format(time.RFC3339)
	for {
		var did struct {
			Recovered int
			HasMore   bool `json:"has_more"`
		}
		if err := c.do(s, client.Request{Method: http.MethodPost, Path: "/webhooks/" + url.PathEscape(c.ID) + "/recover",
			Body: map[string]any{"since": since, "until": until, "only_failed": !c.All}}, &did); err != nil {
			return err
		}
		total += did.Recovered
		if !did.HasMore || did.Recovered == 0 {
			break
		}
		if !c.Quiet {
			fmt.Fprintf(s.log, "%d deliveries so far\n", total)
		}
	}
	return c.printDone(s, map[string]int{"recovered": total}, nil, "Queued %d deliveries again.\n", total)
}

type webhooksRotateCommand struct {
	remote
	output

	ID string `arg:"" help:"ID of the endpoint."`
}

func (c *webhooksRotateCommand) Run(s *session) error {
	var answer json.RawMessage
	if err := c.do(s, client.Request{Method: http.MethodPost,
		Path: "/webhooks/" + url.PathEscape(c.ID) + "/rotate-secret"}, &answer); err != nil {
		return err
	}
	return c.printSecret(s, answer)
}
