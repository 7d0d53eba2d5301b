package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// Load is Resolve after reading the file that the settings name, if any. The
// error has the mistakes of both.
func Load(mode Mode, s Settings) (Config, error) {
	var wrong Mistakes
	if s.ConfigFile != "" {
		content, err := os.ReadFile(s.ConfigFile)
		if err != nil {
			wrong.addf("POSTRIDER_CONFIG", "cannot be read: %v", err)
		} else {
			wrong = append(wrong, s.Fill(s.ConfigFile, content)...)
		}
	}
	cfg, err := Resolve(mode, s)
	var more Mistakes
	if err != nil && !errors.As(err, &more) {
		return Config{}, err
	}
	if err := append(wrong, more...).err(); err != nil {
		return Config{}, err
	}
	return cfg, nil
}

// Fill takes from a YAML file what was not given otherwise: one mapping of
// setting names (as base_url) to scalars, or to lists where the setting takes
// several separated by commas. A key that is no setting is a mistake.
func (s *Settings) Fill(name string, content []byte) Mistakes {
	var wrong Mistakes
	var document yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF): // nothing but comments
		return nil
	case err != nil:
		wrong.addf(name, "is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return wrong
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		wrong.addf(name, "is not a mapping of setting names to values")
		return wrong
	}
	settings := byKey(s)
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		place := fmt.Sprintf("%s:%d: %s", name, key.Line, key.Value)
		target, known := settings[key.Value]
		text, readable := scalarOrList(value)
		switch {
		case !known:
			wrong.addf(place, "is no setting")
		case seen[key.Value]:
			wrong.addf(place, "is there twice")
		case !readable:
			wrong.addf(place, "is neither a single value nor a list of them")
		case target.String() == "":
			target.SetString(text)
		}
		seen[key.Value] = true
	}
	return wrong
}

// byKey finds settings by their key in a file. The file does not name the file.
func byKey(s *Settings) map[string]reflect.Value {
	keys := map[string]reflect.Value{}
	for _, n := range each(reflect.ValueOf(s).Elem()) {
		if n.flag != "config" {
			keys[strings.ReplaceAll(n.flag, "-", "_")] = n.value
		}
	}
	return keys
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

func firstOf(list string) string {
	first, _, _ := strings.Cut(list, ",")
	return first
}
