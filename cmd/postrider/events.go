package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/postrider/postrider/cmd/postrider/client"
)

type eventsCommand struct {
	Send eventsSendCommand `cmd:"" help:"Send a custom event, which starts and continues automations."`
	List eventsListCommand `cmd:"" help:"List custom events, newest first."`
}

type eventsSendCommand struct {
	remote

	Name   string `arg:"" help:"Name of the event."`
	Email  string `help:"Address of the person." placeholder:"ADDRESS"`
	UserID string `help:"ID of the person in your system." name:"user-id" placeholder:"ID"`
	Data   string `help:"JSON object; @FILE reads a file, @- standard input." placeholder:"JSON"`
	DryRun bool   `help:"Report what the event would do, without doing it." name:"dry-run"`
	JSON   bool   `help:"Print JSON as the API returns it." name:"json" xor:"form"`
	Quiet  bool   `help:"Print the ID of the event only." short:"q" xor:"form"`
}

func (c *eventsSendCommand) Run(s *session) error {
	body := map[string]any{"name": c.Name}
	for name, value := range map[string]string{"email": c.Email, "user_id": c.UserID} {
		if value != "" {
			body[name] = value
		}
	}
	if c.DryRun {
		body["dry_run"] = true
	}
	if c.Data != "" {
		text := c.Data
		if path, ok := strings.CutPrefix(text, "@"); ok {
			content, err := readText(path)
			if err != nil {
				return err
			}
			text = content
		}
		if !json.Valid([]byte(text)) {
			return misusef("--data: must be a JSON object")
		}
		body["data"] = json.RawMessage(text)
	}
	var answer json.RawMessage
	if err := c.do(s, client.Request{Method: http.MethodPost, Path: "/events", Body: body}, &answer); err != nil {
		return err
	}
	if c.JSON || c.DryRun {
		return s.printJSON(answer)
	}
	var receipt struct {
		Event struct {
			ID string `json:"id"`
		} `json:"event"`
		Matched int `json:"matched_automations"`
		Resumed int `json:"resumed_runs"`
		Ended   int `json:"cancelled_runs"`
	}
	if err := json.Unmarshal(answer, &receipt); err != nil {
		return err
	}
	if c.Quiet {
		_, err := fmt.Fprintln(s.out, receipt.Event.ID)
		return err
	}
	_, err := fmt.Fprintf(s.out, "%s accepted: %d automations matched, %d runs resumed, %d runs cancelled\n",
		receipt.Event.ID, receipt.Matched, receipt.Resumed, receipt.Ended)
	return err
}

type eventsListCommand struct {
	listFlags

	Name   string `help:"Only events with this name." placeholder:"NAME"`
	Email  string `help:"Only events for this address." placeholder:"ADDRESS"`
	UserID string `help:"Only events for this person." name:"user-id" placeholder:"ID"`
	Since  string `help:"Only events since a time, or an age such as 2h." placeholder:"WHEN"`
}

func (c *eventsListCommand) Run(s *session) error {
	since, err := parseTime("--since", c.Since)
	if err != nil {
		return err
	}
	return c.list(s, "/events", "events", queryOf("name", c.Name, "email", c.Email, "user_id", c.UserID, "since", since),
		"id", "name", "email", "user_id", "created_at")
}
