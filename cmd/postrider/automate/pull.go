package automate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/postrider/postrider/cmd/postrider/client"
)

// Pull writes definitions of the account to a folder.
type Pull struct {
	Server client.Server

	Folder string
	Names  []string // names of automations; empty means all
	Format string   // json or yaml, for new files
	Out    io.Writer
}

// Run writes the drafts of the account to files. A definition overwrites the file of the folder that has the
// same name; other definitions get new files. No file is deleted. The error reports an invalid field, a file
// or a response of the server.
func (p Pull) Run(ctx context.Context) error {
	if err := p.Server.Validate(); err != nil {
		return err
	}
	if err := os.MkdirAll(p.Folder, 0o750); err != nil {
		return err
	}
	at, err := p.pathsByName()
	if err != nil {
		return err
	}
	list, err := List(ctx, p.Server)
	if err != nil {
		return err
	}
	for _, name := range p.Names {
		if a, err := findByName(list, name); err != nil || a == nil {
			return orMissing(name, err)
		}
	}
	for _, a := range list {
		if len(p.Names) > 0 && !slices.Contains(p.Names, a.Name) {
			continue
		}
		if _, err := findByName(list, a.Name); err != nil {
			return err
		}
		if err := p.write(a, at); err != nil {
			return err
		}
	}
	return nil
}

func orMissing(name string, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("the account has no automation with the name %q", name)
}

// pathsByName maps the names of the folder's definitions to their files.
func (p Pull) pathsByName() (map[string]string, error) {
	at := map[string]string{}
	entries, err := os.ReadDir(p.Folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		path := filepath.Join(p.Folder, entry.Name())
		if entry.IsDir() || !slices.Contains(extensions, strings.ToLower(filepath.Ext(path))) {
			continue
		}
		f, err := readFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		at[f.name] = path
	}
	return at, nil
}

func (p Pull) write(a Automation, at map[string]string) error {
	path, known := at[a.Name]
	if !known {
		path = filepath.Join(p.Folder, fileName(a.Name, "."+p.Format))
		if _, err := os.Stat(path); err == nil {
			path = filepath.Join(p.Folder, fileName(a.Name+" "+a.ID, "."+p.Format))
		}
	}
	definition, err := a.definition()
	if err != nil {
		return err
	}
	content, err := encodeDefinition(definition, strings.ToLower(filepath.Ext(path)))
	if err != nil {
		return err
	}
	did := "written"
	if before, err := os.ReadFile(path); err == nil && bytes.Equal(before, content) {
		did = "unchanged"
	} else if err := os.WriteFile(path, content, 0o600); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Out, "%s  %s  %s\n", path, a.Name, did)
	return err
}

// normalizeDefinition returns the definition as it is after a round trip through JSON.
func normalizeDefinition(definition map[string]any) (map[string]any, error) {
	encoded, err := json.Marshal(definition)
	if err != nil {
		return nil, err
	}
	return decode(encoded)
}
