package templatefiles

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Variable is a variable of a template.
type Variable struct {
	Key      string `json:"key" yaml:"key"`
	Type     string `json:"type" yaml:"type"`
	Required bool   `json:"required" yaml:"required,omitempty"`
	Fallback any    `json:"fallback,omitempty" yaml:"fallback,omitempty"`
	Example  any    `json:"example,omitempty" yaml:"example,omitempty"`
}

// Template is a template with the fields that files can set.
type Template struct {
	Kind        string     `json:"kind,omitempty" yaml:"-"` // layout or partial; empty: template
	Alias       string     `json:"alias" yaml:"alias,omitempty"`
	Name        string     `json:"name" yaml:"name,omitempty"`
	Subject     *string    `json:"subject" yaml:"subject,omitempty"`
	From        *string    `json:"from" yaml:"from,omitempty"`
	ReplyTo     []string   `json:"reply_to" yaml:"reply_to,omitempty"`
	Category    *string    `json:"category" yaml:"category,omitempty"`
	Unsubscribe bool       `json:"unsubscribe_enabled" yaml:"unsubscribe_enabled,omitempty"`
	Variables   []Variable `json:"variables" yaml:"variables,omitempty"`
	HTML        *string    `json:"html" yaml:"-"`
	Text        *string    `json:"text" yaml:"-"`

	Translations []Translation `json:"translations" yaml:"-"`
}

// Extensions of the files of a template.
const (
	htmlExtension = ".html"
	textExtension = ".txt"
	yamlExtension = ".yaml"
)

// separator is the line before and after YAML at the start of a file.
const separator = "---"

// read reads the templates of a folder in the order in which they can be published: partials before their users, then
// layouts, then templates, each in the order of their names. The error reports all problems.
func read(folder string) ([]Template, error) {
	var stems []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		extension := strings.ToLower(filepath.Ext(path))
		if slices.Contains([]string{htmlExtension, textExtension, yamlExtension}, extension) {
			stems = append(stems, path[:len(path)-len(extension)])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(stems)
	stems = slices.Compact(stems)
	var all []Template
	var wrong []error
	from := map[string]string{}
	for _, stem := range stems {
		if name, _ := splitLocale(stem); name != "" && slices.Contains(stems, name) {
			continue // read with the template
		}
		t, err := readTemplate(stem)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", stem, err))
			continue
		}
		t.Kind = kindOf(folder, stem)
		if other, ok := from[t.Alias]; ok {
			wrong = append(wrong, fmt.Errorf("%s: has the same alias %q as %s", stem, t.Alias, other))
		}
		from[t.Alias] = stem
		for _, other := range stems {
			if name, locale := splitLocale(other); name == stem {
				translated, err := readTranslation(other, locale)
				if err != nil {
					wrong = append(wrong, fmt.Errorf("%s: %w", other, err))
				}
				t.Translations = append(t.Translations, translated)
			}
		}
		all = append(all, t)
	}
	if len(all) == 0 && len(wrong) == 0 {
		return nil, fmt.Errorf("%s: contains no templates (%s, %s)", folder, htmlExtension, textExtension)
	}
	return sortByUse(all), errors.Join(wrong...)
}

// readTemplate reads the files of one template, except its translations.
func readTemplate(stem string) (t Template, err error) {
	if t.HTML, t.Text, err = readFiles(stem, &t); err != nil {
		return t, err
	}
	if t.HTML == nil && t.Text == nil {
		return t, errors.New("has neither an .html nor a .txt file")
	}
	if t.Alias == "" {
		t.Alias = filepath.Base(stem)
	}
	if t.Name == "" {
		t.Name = t.Alias
	}
	return t, nil
}

// readFiles reads the bodies in the files with a stem, and the fields in their YAML.
func readFiles(stem string, fields any) (html, text *string, err error) {
	var settings [][]byte
	if content, err := os.ReadFile(stem + yamlExtension); err == nil {
		settings = append(settings, content)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for _, part := range []struct {
		extension string
		body      **string
	}{{htmlExtension, &html}, {textExtension, &text}} {
		content, err := os.ReadFile(stem + part.extension)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		front, body, err := splitFrontMatter(content)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", part.extension, err)
		}
		if front != nil {
			settings = append(settings, front)
		}
		*part.body = &body
	}
	if len(settings) > 1 {
		return nil, nil, errors.New("the fields must be in one place only: NAME.yaml, or the start of one file")
	}
	if len(settings) == 1 {
		decoder := yaml.NewDecoder(bytes.NewReader(settings[0]))
		decoder.KnownFields(true)
		if err := decoder.Decode(fields); err != nil {
			return nil, nil, err
		}
	}
	return html, text, nil
}

// splitFrontMatter returns the YAML at the start of a file, or nil, and the rest.
func splitFrontMatter(content []byte) (front []byte, body string, err error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(content), "\ufeff"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, separator+"\n")
	if !ok {
		return nil, text, nil
	}
	if body, ok := strings.CutPrefix(rest, separator+"\n"); ok {
		return []byte{}, body, nil
	}
	yamlText, body, ok := strings.Cut(rest, "\n"+separator+"\n")
	if !ok {
		return nil, "", errors.New("the line --- after the fields is missing")
	}
	return []byte(yamlText), body, nil
}

// write writes the files of a template to a folder, and reports whether they changed.
func write(folder string, t Template) (path string, changed bool, err error) {
	if below := folders[t.Kind]; below != "" {
		folder = filepath.Join(folder, below)
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return "", false, err
		}
	}
	path, changed, err = writeFiles(filepath.Join(folder, t.Alias), t, t.HTML, t.Text)
	for _, translated := range t.Translations {
		if err != nil {
			return "", false, err
		}
		var fields any // nil: the file needs none
		if translated.Subject != nil {
			fields = translated
		}
		var also bool
		_, also, err = writeFiles(filepath.Join(folder, t.Alias+"."+translated.Locale), fields, translated.HTML, translated.Text)
		changed = changed || also
	}
	return path, changed, err
}

// writeFiles writes the bodies to the files with a stem. The first file begins with the fields.
func writeFiles(stem string, fields any, html, text *string) (path string, changed bool, err error) {
	bodies := map[string]*string{htmlExtension: html, textExtension: text}
	first := htmlExtension
	if html == nil {
		first = textExtension
	}
	if bodies[first] == nil { // a draft without a body
		bodies[first] = new(string)
		if _, isTranslation := fields.(Translation); isTranslation {
			first = yamlExtension
			bodies = map[string]*string{first: new(string)}
		}
	}
	var front bytes.Buffer
	if fields != nil {
		encoder := yaml.NewEncoder(&front)
		encoder.SetIndent(2)
		if err := errors.Join(encoder.Encode(fields), encoder.Close()); err != nil {
			return "", false, err
		}
	}
	for _, extension := range []string{htmlExtension, textExtension, yamlExtension} {
		body := bodies[extension]
		if body == nil {
			continue
		}
		content := *body
		switch {
		case extension == yamlExtension:
			content = front.String()
		case extension == first && fields != nil:
			content = separator + "\n" + front.String() + separator + "\n" + content
		}
		file := stem + extension
		if before, err := os.ReadFile(file); err == nil && string(before) == content {
			continue
		}
		changed = true
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return "", false, err
		}
	}
	return stem + first, changed, nil
}
