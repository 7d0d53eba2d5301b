package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/postrider/postrider/cmd/postrider/client"
)

type emailsCommand struct {
	Send   emailsSendCommand   `cmd:"" help:"Send an email."`
	Check  emailsCheckCommand  `cmd:"" help:"Check an email without sending it."`
	List   emailsListCommand   `cmd:"" help:"List or search emails, newest first."`
	Get    emailsGetCommand    `cmd:"" help:"Print an email and the state of each recipient."`
	Cancel emailsCancelCommand `cmd:"" help:"Cancel a scheduled email."`
	Resend emailsResendCommand `cmd:"" help:"Send an email again, as a new email."`
	Export emailsExportCommand `cmd:"" help:"Export emails as JSON Lines or CSV."`
}

type emailsSendCommand struct {
	remote
	output
	emailFlags

	IdempotencyKey string `help:"Key that makes retries safe." name:"idempotency-key" placeholder:"KEY"`
}

// emailFlags describe an email to send.
type emailFlags struct {
	From        string            `help:"Sender: an address, or a name and an address." placeholder:"MAILBOX"`
	To          []string          `help:"Recipient. Repeat the flag for more." placeholder:"MAILBOX" sep:"none"`
	CC          []string          `help:"Cc recipient. Repeat the flag for more." name:"cc" placeholder:"MAILBOX" sep:"none"`
	BCC         []string          `help:"Bcc recipient. Repeat the flag for more." name:"bcc" placeholder:"MAILBOX" sep:"none"`
	ReplyTo     []string          `help:"Reply-To address. Repeat the flag for more." name:"reply-to" placeholder:"MAILBOX" sep:"none"`
	Subject     string            `help:"Subject." placeholder:"TEXT"`
	Text        string            `help:"Plain text." placeholder:"TEXT" xor:"text"`
	TextFile    string            `help:"File with plain text; - reads standard input." name:"text-file" placeholder:"FILE" xor:"text"`
	HTML        string            `help:"HTML." name:"html" placeholder:"HTML" xor:"html"`
	HTMLFile    string            `help:"File with HTML; - reads standard input." name:"html-file" placeholder:"FILE" xor:"html"`
	Template    string            `help:"Alias or ID of a published template." placeholder:"ALIAS"`
	Variable    map[string]string `help:"Variable of the template. Repeat the flag for more." mapsep:"none" placeholder:"NAME=VALUE" short:"v"`
	Attach      []string          `help:"File to attach. Repeat the flag for more." placeholder:"FILE" sep:"none"`
	Header      map[string]string `help:"Additional header field. Repeat the flag for more." mapsep:"none" placeholder:"NAME=VALUE"`
	Tag         map[string]string `help:"Tag. Repeat the flag for more." mapsep:"none" placeholder:"NAME=VALUE"`
	ScheduledAt string            `help:"Send at this time." name:"scheduled-at" placeholder:"2026-01-31T12:00:00Z"`
	Unsubscribe bool              `help:"Add an unsubscribe link."`
	Data        string            `help:"File with a JSON body of POST /emails; - reads standard input. Flags replace its fields." placeholder:"FILE"`
}

func (c *emailsSendCommand) Run(s *session) error {
	body, err := c.body()
	if err != nil {
		return err
	}
	r := client.Request{Method: http.MethodPost, Path: "/emails", Body: body, Header: http.Header{}}
	if c.IdempotencyKey != "" {
		r.Header.Set("Idempotency-Key", c.IdempotencyKey)
	}
	var receipt json.RawMessage
	if err := c.do(s, r, &receipt); err != nil {
		return err
	}
	return c.printItem(s, receipt, "id", "status")
}

// body returns the fields of the data file, and those of the flags.
func (c *emailFlags) body() (map[string]any, error) {
	body := map[string]any{}
	if c.Data != "" {
		content, err := readText(c.Data)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(content), &body); err != nil || body == nil {
			return nil, misusef("--data: must be a JSON object: %w", err)
		}
	}
	for _, file := range []struct {
		path string
		text *string
	}{{c.TextFile, &c.Text}, {c.HTMLFile, &c.HTML}} {
		if file.path == "" {
			continue
		}
		content, err := readText(file.path)
		if err != nil {
			return nil, err
		}
		*file.text = content
	}
	for name, value := range map[string]string{"from": c.From, "subject": c.Subject, "text": c.Text, "html": c.HTML,
		"scheduled_at": c.ScheduledAt} {
		if value != "" {
			body[name] = value
		}
	}
	for name, values := range map[string][]string{"to": c.To, "cc": c.CC, "bcc": c.BCC, "reply_to": c.ReplyTo} {
		if len(values) > 0 {
			body[name] = values
		}
	}
	for name, values := range map[string]map[string]string{"headers": c.Header, "tags": c.Tag} {
		if len(values) > 0 {
			body[name] = values
		}
	}
	if c.Unsubscribe {
		body["unsubscribe"] = true
	}
	if c.Template != "" {
		body["template"] = referTemplate(c.Template, c.Variable)
	} else if len(c.Variable) > 0 {
		return nil, misusef("--variable: requires --template")
	}
	files, err := readAttachments(c.Attach)
	if len(files) > 0 {
		body["attachments"] = files
	}
	return body, err
}

// referTemplate returns a reference to a template, by ID or alias, with its variables.
func referTemplate(template string, variables map[string]string) map[string]any {
	reference := map[string]any{"alias": template}
	if strings.HasPrefix(template, "tpl_") {
		reference = map[string]any{"id": template}
	}
	if len(variables) > 0 {
		reference["variables"] = variables
	}
	return reference
}

func readAttachments(paths []string) (files []map[string]string, err error) {
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files = append(files, map[string]string{"name": filepath.Base(path),
			"content": base64.StdEncoding.EncodeToString(content)})
	}
	return files, nil
}

// emailFilters select emails.
type emailFilters struct {
	Search string `help:"Search query, in the syntax of the search field of the dashboard." placeholder:"WORDS" short:"s"`
	Status string `help:"Only emails with this status." placeholder:"STATUS"`
	From   string `help:"Only emails from this sender." placeholder:"ADDRESS"`
	To     string `help:"Only emails to this recipient." placeholder:"ADDRESS"`
	Domain string `help:"Only emails from this sending domain." placeholder:"NAME"`
	Tag    string `help:"Only emails with this tag." placeholder:"NAME:VALUE"`
	Since  string `help:"Only emails created at or after a time, or an age such as 2h." placeholder:"WHEN"`
	Until  string `help:"Only emails created before a time, or an age such as 2h." placeholder:"WHEN"`
}

func (f emailFilters) query() (url.Values, error) {
	since, err := parseTime("--since", f.Since)
	if err != nil {
		return nil, err
	}
	until, err := parseTime("--until", f.Until)
	return queryOf("q", f.Search, "status", f.Status, "from", f.From, "to", f.To, "domain", f.Domain, "tag", f.Tag,
		"since", since, "until", until), err
}

type emailsListCommand struct {
	listFlags
	emailFilters
}

func (c *emailsListCommand) Run(s *session) error {
	query, err := c.query()
	if err != nil {
		return err
	}
	return c.list(s, "/emails", "emails", query, "id", "status", "to", "subject", "created_at")
}

type emailsGetCommand struct {
	remote
	output

	ID string `arg:"" help:"ID of the email."`
}

func (c *emailsGetCommand) Run(s *session) error {
	var answer struct{ Email json.RawMessage }
	path := "/emails/" + url.PathEscape(c.ID)
	if err := c.do(s, client.Request{Method: http.MethodGet, Path: path}, &answer); err != nil {
		return err
	}
	if err := c.printItem(s, answer.Email, "id", "status", "from", "to", "cc", "bcc", "subject", "created_at",
		"scheduled_at", "sent_at", "delivered_at", "bounced_at", "bounce_reason"); err != nil || c.JSON || c.Quiet {
		return err
	}
	var email struct {
		Recipients []map[string]any `json:"recipients"`
	}
	if err := json.Unmarshal(answer.Email, &email); err != nil {
		return err
	}
	fmt.Fprintln(s.out)
	return s.printRows(email.Recipients, "address", "state", "attempts", "code", "enhanced_code", "diagnostic")
}

type emailsCancelCommand struct {
	remote
	output

	ID string `arg:"" help:"ID of the email."`
}

func (c *emailsCancelCommand) Run(s *session) error {
	var answer struct{ Email json.RawMessage }
	if err := c.do(s, client.Request{Method: http.MethodPatch, Path: "/emails/" + url.PathEscape(c.ID),
		Body: map[string]bool{"cancel": true}}, &answer); err != nil {
		return err
	}
	return c.printItem(s, answer.Email, "id", "status")
}

type emailsResendCommand struct {
	remote
	output

	ID             string `arg:"" help:"ID of the email."`
	IdempotencyKey string `help:"Key that makes retries safe." name:"idempotency-key" placeholder:"KEY"`
}

func (c *emailsResendCommand) Run(s *session) error {
	header := http.Header{}
	if c.IdempotencyKey != "" {
		header.Set("Idempotency-Key", c.IdempotencyKey)
	}
	var receipt json.RawMessage
	if err := c.do(s, client.Request{Method: http.MethodPost, Path: "/emails/" + url.PathEscape(c.ID) + "/resend",
		Header: header}, &receipt); err != nil {
		return err
	}
	return c.printItem(s, receipt, "id", "status")
}

type emailsExportCommand struct {
	remote
	emailFilters

	Format string `default:"jsonl" enum:"jsonl,csv" help:"jsonl or csv."`

	exportTarget
}

func (c *emailsExportCommand) Run(s *session) error {
	query, err := c.query()
	if err != nil {
		return err
	}
	maps.Copy(query, queryOf("format", c.Format))
	return c.write(s, c.remote, "/emails/export", query)
}
