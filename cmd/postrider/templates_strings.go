package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

type templatesExportStringsCommand struct {
	remote
	templateName
	exportTarget

	Locale       string `help:"Language to translate to, such as pt-BR." placeholder:"TAG" required:""`
	SourceLocale string `help:"Language of the template (default: that of its HTML, or en)." name:"source-locale" placeholder:"TAG"`
}

func (c *templatesExportStringsCommand) Run(s *session) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	path, err := c.path(s, server)
	if err != nil {
		return err
	}
	return c.write(s, c.remote, path+"/strings", queryOf("locale", c.Locale, "source_locale", c.SourceLocale))
}

type templatesImportStringsCommand struct {
	remote
	output
	templateName

	File string `arg:"" help:"XLIFF 1.2 file; - reads standard input."`
}

func (c *templatesImportStringsCommand) Run(s *session) error {
	content, err := readText(c.File)
	if err != nil {
		return err
	}
	var answer struct {
		Template     json.RawMessage
		Locale       string
		Untranslated []string
	}
	if err := c.call(s, c.remote, http.MethodPost, "/strings", map[string]any{"xliff": content}, &answer); err != nil {
		return err
	}
	if len(answer.Untranslated) > 0 {
		fmt.Fprintf(s.log, "warning: not translated to %s: %s\n", answer.Locale, strings.Join(answer.Untranslated, ", "))
	}
	return c.printItem(s, answer.Template, "id", "alias", "status", "version", "has_unpublished_changes", "updated_at")
}
