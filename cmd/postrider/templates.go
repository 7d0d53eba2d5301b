package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/postrider/postrider/cmd/postrider/client"
	"github.com/postrider/postrider/cmd/postrider/templatefiles"
)

type templatesCommand struct {
	List    templatesListCommand    `cmd:"" help:"List templates, newest first."`
	Get     templatesGetCommand     `cmd:"" help:"Print the draft of a template."`
	Push    templatesPushCommand    `cmd:"" help:"Push a folder of templates to drafts by alias. Exits with code 1 if there are problems."`
	Pull    templatesPullCommand    `cmd:"" help:"Write the account's drafts to a folder."`
	Render  templatesRenderCommand  `cmd:"" help:"Render a template and print it."`
	Publish templatesPublishCommand `cmd:"" help:"Publish the draft of a template."`

	ExportStrings templatesExportStringsCommand `cmd:"" help:"Write the texts of a template as XLIFF for a translation tool."`
	ImportStrings templatesImportStringsCommand `cmd:"" help:"Replace a translation of a template with that of an XLIFF file."`
}

type templatesListCommand struct {
	listFlags

	Search string `help:"Words to find in names, aliases and subjects." placeholder:"WORDS" short:"s"`
	Status string `help:"Only templates with this status." placeholder:"STATUS"`
	Kind   string `help:"Only templates of this kind: template, layout or partial." placeholder:"KIND"`
	Newer  bool   `help:"Only templates that can be published with a newer layout or partial."`
}

func (c *templatesListCommand) Run(s *session) error {
	query := queryOf("q", c.Search, "status", c.Status, "kind", c.Kind)
	if c.Newer {
		query.Set("has_newer_components", "true")
	}
	return c.list(s, "/templates", "templates", query, "id", "kind", "alias",
		"name", "status", "version", "has_unpublished_changes", "updated_at")
}

// templateName is the argument for a template.
type templateName struct {
	Template string `arg:"" help:"Alias or ID of the template."`
}

// call sends a request about the template, and decodes the response into out.
func (t templateName) call(s *session, r remote, method, below string, body, out any) error {
	server, err := r.server()
	if err != nil {
		return err
	}
	path, err := t.path(s, server)
	if err != nil {
		return err
	}
	return server.Do(s.ctx, client.Request{Method: method, Path: path + below, Body: body}, out)
}

// path returns the path of the template.
func (t templateName) path(s *session, server client.Server) (string, error) {
	id := t.Template
	if !strings.HasPrefix(id, "tpl_") {
		found, err := listIDs(s, server, "/templates", "templates", queryOf("alias", id))
		if err != nil {
			return "", err
		}
		if len(found) == 0 {
			return "", fmt.Errorf("the account has no template with the alias %q", id)
		}
		id = found[0]
	}
	return "/templates/" + url.PathEscape(id), nil
}

type templatesGetCommand struct {
	remote
	output
	templateName
}

func (c *templatesGetCommand) Run(s *session) error {
	var answer struct{ Template json.RawMessage }
	if err := c.call(s, c.remote, http.MethodGet, "", nil, &answer); err != nil {
		return err
	}
	return c.printItem(s, answer.Template, "id", "alias", "name", "subject", "from", "reply_to", "status", "version",
		"has_unpublished_changes", "published_at", "updated_at")
}

type templatesPushCommand struct {
	remote

	Folder  string `arg:"" help:"Folder with NAME.html and NAME.txt files, and fields in YAML." type:"existingdir"`
	Publish bool   `help:"Publish templates with unpublished changes, or newer layouts or partials."`
	DryRun  bool   `help:"Print the differences and change nothing." name:"dry-run"`
	JSON    bool   `help:"Print the result for each template as JSON." name:"json" xor:"form"`
	Quiet   bool   `help:"Print the aliases of changed templates only, and no differences." short:"q" xor:"form"`
}

func (c *templatesPushCommand) Run(s *session) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	push := templatefiles.Push{Server: server, Folder: c.Folder, Publish: c.Publish, DryRun: c.DryRun, Diff: s.log,
		Log: s.log}
	results := []templatefiles.PushResult{}
	push.Report = func(p templatefiles.PushResult) {
		results = append(results, p)
		switch {
		case c.JSON || p.Error != nil:
		case !c.Quiet:
			fmt.Fprintf(s.out, "%s  %s\n", p.Alias, p)
		case p.Change != "unchanged" || p.Published:
			fmt.Fprintln(s.out, p.Alias)
		}
	}
	if c.Quiet {
		push.Diff = io.Discard
	}
	failed, err := push.Run(s.ctx)
	if c.JSON {
		err = errors.Join(err, s.print(map[string]any{"templates": results}))
	}
	if err == nil && failed > 0 {
		return exitError(exitFailure)
	}
	return err
}

type templatesPullCommand struct {
	remote

	Folder string `arg:"" help:"Folder to write files to."`
	JSON   bool   `help:"Print the result for each template as JSON." name:"json" xor:"form"`
	Quiet  bool   `help:"Print the changed files only." short:"q" xor:"form"`
}

func (c *templatesPullCommand) Run(s *session) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	results := []templatefiles.PullResult{}
	err = templatefiles.Pull{Server: server, Folder: c.Folder, Report: func(p templatefiles.PullResult) {
		results = append(results, p)
		switch {
		case c.JSON:
		case !c.Quiet:
			fmt.Fprintln(s.out, p)
		case p.Change == "written":
			fmt.Fprintln(s.out, *p.Path)
		}
	}}.Run(s.ctx)
	if c.JSON {
		err = errors.Join(err, s.print(map[string]any{"templates": results}))
	}
	return err
}

type templatesRenderCommand struct {
	remote
	templateName

	Variable map[string]string `help:"Variable of the template. Repeat the flag for more." mapsep:"none" placeholder:"NAME=VALUE" short:"v"`
	Data     string            `help:"File with a JSON object of variables; - reads standard input." placeholder:"FILE"`
	Examples bool              `help:"Use the examples of the variables that are not given."`
	Locale   string            `help:"Language of the recipient, such as pt-BR." placeholder:"TAG"`
	TimeZone string            `help:"Time zone of the recipient, such as America/Recife." name:"time-zone" placeholder:"ZONE"`
	Draft    bool              `help:"Render the draft (default: the published version, or the draft if there is none)."`
	HTML     bool              `help:"Print the HTML only." name:"html" xor:"form"`
	Text     bool              `help:"Print the plain text only." xor:"form"`
	JSON     bool              `help:"Print JSON as the API returns it." name:"json" xor:"form"`
	Quiet    bool              `help:"Print nothing: only report whether the template can be rendered." short:"q" xor:"form"`
}

func (c *templatesRenderCommand) Run(s *session) error {
	variables := map[string]any{}
	if c.Data != "" {
		content, err := readText(c.Data)
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(content), &variables); err != nil {
			return misusef("--data: must be a JSON object: %w", err)
		}
	}
	for name, value := range c.Variable {
		variables[name] = value
	}
	body := map[string]any{"variables": variables}
	if c.Examples { // which earlier servers do not know
		body["examples"] = true
	}
	if c.Locale != "" {
		body["locale"] = c.Locale
	}
	if c.TimeZone != "" {
		body["time_zone"] = c.TimeZone
	}
	if !c.Draft {
		var current struct {
			Template struct {
				Version *int `json:"version"`
			} `json:"template"`
		}
		if err := c.call(s, c.remote, http.MethodGet, "", nil, &current); err != nil {
			return err
		}
		if number := current.Template.Version; number != nil {
			body["version"] = *number
		}
	}
	var answer json.RawMessage
	if err := c.call(s, c.remote, http.MethodPost, "/render", body, &answer); err != nil {
		return err
	}
	if c.JSON {
		return s.printJSON(answer)
	}
	var made struct {
		Rendered struct {
			Subject *string `json:"subject"`
			HTML    *string `json:"html"`
			Text    *string `json:"text"`
		} `json:"rendered"`
	}
	if err := json.Unmarshal(answer, &made); err != nil {
		return err
	}
	r := made.Rendered
	switch {
	case c.Quiet:
		return nil
	case c.HTML:
		return s.printText(r.HTML, "HTML")
	case c.Text:
		return s.printText(r.Text, "plain text")
	}
	for _, part := range []struct {
		title string
		text  *string
	}{{"SUBJECT", r.Subject}, {"TEXT", r.Text}, {"HTML", r.HTML}} {
		if part.text != nil {
			fmt.Fprintf(s.out, "%s\n%s\n\n", part.title, *part.text)
		}
	}
	return nil
}

func (s *session) printText(text *string, name string) error {
	if text == nil {
		return fmt.Errorf("the template has no %s", name)
	}
	_, err := fmt.Fprintln(s.out, *text)
	return err
}

type templatesPublishCommand struct {
	remote
	output
	templateName
}

func (c *templatesPublishCommand) Run(s *session) error {
	var answer struct {
		Template json.RawMessage
		Warnings []string
	}
	if err := c.call(s, c.remote, http.MethodPost, "/publish", nil, &answer); err != nil {
		return err
	}
	for _, warning := range answer.Warnings {
		fmt.Fprintf(s.log, "warning: %s\n", warning)
	}
	return c.printItem(s, answer.Template, "id", "alias", "status", "version", "published_at")
}
