package setting

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Fill adds values from a YAML file for settings that are not set otherwise. The file is one mapping of
// setting names (such as base_url) to scalars, or to lists where the setting takes a comma-separated list.
// An unknown key is a mistake, and so is the setting except, which names the file itself.
func (t RawValues) Fill(file string, content []byte, except string) Mistakes {
	var wrong Mistakes
	var document yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF): // only comments
		return nil
	case err != nil:
		wrong.Add(file, "is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return wrong
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		wrong.Add(file, "is not a mapping of setting names to values")
		return wrong
	}
	names := map[string]string{} // by key
	for _, s := range All() {
		if s.Name != except {
			names[s.Key] = s.Name
		}
		if s.File != "" {
			names[s.Key+strings.ToLower(fileSuffix)] = s.File
		}
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		place := fmt.Sprintf("%s:%d: %s", file, key.Line, key.Value)
		name, known := names[key.Value]
		text, readable := scalarOrList(value)
		switch {
		case !known:
			wrong.Add(place, "is not a setting")
		case seen[key.Value]:
			wrong.Add(place, "appears twice")
		case !readable:
			wrong.Add(place, "must be a single value or a list of values")
		case t[name] == "":
			t[name] = text
		}
		seen[key.Value] = true
	}
	return wrong
}

func scalarOrList(n *yaml.Node) (string, bool) {
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return "", true
		}
		return n.Value, true
	case yaml.SequenceNode:
		parts := make([]string, 0, len(n.Content))
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				return "", false
			}
			parts = append(parts, item.Value)
		}
		return strings.Join(parts, ","), true
	default:
		return "", false
	}
}
