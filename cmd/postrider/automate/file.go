package automate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// file is a definition in a file.
type file struct {
	path       string
	name       string
	definition map[string]any
}

// Extensions of files that contain definitions.
var extensions = []string{".json", ".yaml", ".yml"}

// read reads the definitions of files and of the files in folders. The error reports all problems.
func read(paths []string) (files []file, err error) {
	var wrong []error
	for _, path := range paths {
		below, err := filesOf(path)
		if err != nil {
			wrong = append(wrong, err)
		}
		for _, p := range below {
			f, err := readFile(p)
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", p, err))
				continue
			}
			for _, other := range files {
				if other.name == f.name {
					wrong = append(wrong, fmt.Errorf("%s: has the same name %q as %s", p, f.name, other.path))
				}
			}
			files = append(files, f)
		}
	}
	return files, errors.Join(wrong...)
}

// filesOf returns the file, or the files of a folder that have the extension of a definition.
func filesOf(path string) ([]string, error) {
	about, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !about.IsDir() {
		return []string{path}, nil
	}
	var all []string
	err = filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains(extensions, strings.ToLower(filepath.Ext(at))) {
			all = append(all, at)
		}
		return err
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s: contains no definitions (%s)", path, strings.Join(extensions, ", "))
	}
	return all, err
}

func readFile(path string) (file, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return file{}, err
	}
	definition, err := decode(content)
	if err != nil {
		return file{}, err
	}
	name, _ := definition["name"].(string)
	if strings.TrimSpace(name) == "" {
		return file{}, errors.New("name: is required and must be a string")
	}
	return file{path, name, definition}, nil
}

// decode decodes an object from JSON or YAML, which is a superset of JSON.
func decode(content []byte) (map[string]any, error) {
	var value map[string]any
	if json.Valid(content) {
		decoder := json.NewDecoder(bytes.NewReader(content))
		decoder.UseNumber()
		if err := decoder.Decode(&value); err != nil {
			return nil, errors.New("must be an object")
		}
	} else if err := yaml.Unmarshal(content, &value); err != nil {
		return nil, err
	}
	if value == nil {
		return nil, errors.New("must be an object")
	}
	return value, nil
}

// definition returns the definition as JSON, with its fields in the order in which people write them.
func (a Automation) definition() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(`{"name": `)
	name, err := json.Marshal(a.Name)
	if err != nil {
		return nil, err
	}
	out.Write(name)
	for _, member := range []struct {
		name  string
		value any
		given bool
	}{{"description", a.Description, a.Description != nil}, {"timezone", a.Timezone, a.Timezone != nil},
		{"goal", a.Goal, a.Goal != nil}, {"trigger", a.Trigger, true}, {"steps", a.Steps, true}} {
		if !member.given {
			continue
		}
		encoded, err := json.Marshal(member.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, `, %q: %s`, member.name, encoded)
	}
	out.WriteString("}")
	return out.Bytes(), nil
}

// encodeDefinition encodes a definition in the format of a file extension.
func encodeDefinition(definition []byte, extension string) ([]byte, error) {
	var out bytes.Buffer
	if extension == ".json" {
		if err := json.Indent(&out, definition, "", "  "); err != nil {
			return nil, err
		}
		out.WriteByte('\n')
		return out.Bytes(), nil
	}
	var node yaml.Node // preserves the order
	if err := yaml.Unmarshal(definition, &node); err != nil {
		return nil, err
	}
	clearStyle(&node)
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&node); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

// clearStyle removes the JSON style.
func clearStyle(n *yaml.Node) {
	n.Style = 0
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "\n") {
		n.Style = yaml.LiteralStyle
	}
	for _, below := range n.Content {
		clearStyle(below)
	}
}

// fileName returns the name of a new file for a definition.
func fileName(name, extension string) string {
	var out strings.Builder
	dash := false
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if dash && out.Len() > 0 {
				out.WriteByte('-')
			}
			out.WriteRune(r)
			dash = false
			continue
		}
		dash = true
	}
	if out.Len() == 0 {
		return "automation" + extension
	}
	return out.String() + extension
}
