package check_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

var update = flag.Bool("update", false, "write generated and golden files")

// golden compares a file with its content, or writes it with -update.
func golden(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("%s is out of date; run the test with -update (-file +now):\n%s", file, diff)
	}
}

// value is a value of the chart, with its comment in values.yaml.
type value struct {
	path    string
	node    *yaml.Node
	comment string
}

// chartValues lists the values of values.yaml that have no values below them.
func chartValues(t *testing.T) []value {
	t.Helper()
	content, err := os.ReadFile(chartDir + "/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	var all []value
	var list func(n *yaml.Node, above string)
	list = func(n *yaml.Node, above string) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, below := n.Content[i], n.Content[i+1]
			path := above + key.Value
			if below.Kind == yaml.MappingNode && len(below.Content) > 0 && !strings.HasSuffix(path, ".resources") {
				list(below, path+".")
				continue
			}
			comment := key.LineComment + below.LineComment
			if comment == "" {
				t.Errorf("values.yaml does not describe %s", path)
			}
			all = append(all, value{path, below, strings.TrimPrefix(comment, "# ")})
		}
	}
	list(document.Content[0], "")
	return all
}

// The README.md of the chart lists the values in values.yaml.
func TestChartReadmeListsTheValues(t *testing.T) {
	t.Parallel()
	const file, begin = chartDir + "/README.md", "<!-- Generated from values.yaml: make chart -->\n"
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	intro, _, found := strings.Cut(string(old), begin)
	if !found {
		t.Fatalf("%s has no line %q", file, begin)
	}
	var table strings.Builder
	table.WriteString("\n| value | default | meaning |\n|---|---|---|\n")
	for _, v := range chartValues(t) {
		var decoded any
		if err := v.node.Decode(&decoded); err != nil {
			t.Fatal(err)
		}
		shown, err := json.Marshal(decoded)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&table, "| `%s` | `%s` | %s |\n", v.path, shown, strings.ReplaceAll(v.comment, "|", "\\|"))
	}
	golden(t, file, intro+begin+table.String())
}

// setByChart are the settings that the chart sets through its own values or through the secret.
var setByChart = []string{"DATABASE_URL", "POSTRIDER_BASE_URL", "POSTRIDER_DELIVERY_CONCURRENCY",
	"POSTRIDER_DRAIN_DELAY", "POSTRIDER_HTTP_ADDR", "POSTRIDER_INBOUND_ADDR", "POSTRIDER_MASTER_KEY",
	"POSTRIDER_METRICS_ADDR", "POSTRIDER_MIGRATE", "POSTRIDER_NODE", "POSTRIDER_RELAY_ADDR",
	"POSTRIDER_RELAY_TLS_ADDR", "POSTRIDER_SMTP_TLS_CERT", "POSTRIDER_SMTP_TLS_KEY", "POSTRIDER_SPOOL_DIR"}

// values.schema.json has the type of each value of values.yaml, and the names of all settings.
func TestChartSchemaMatchesTheValues(t *testing.T) {
	t.Parallel()
	names := settings(t)
	for _, name := range setByChart {
		if !names[name] {
			t.Errorf("%s is not a setting", name)
		}
		delete(names, name)
	}
	scalar := map[string]any{"type": []string{"string", "number", "boolean"}}
	narrower := map[string]map[string]any{
		"baseURL":               {"pattern": "^https?://[^/]+/?$"},
		"image.pullPolicy":      {"enum": []string{"Always", "IfNotPresent", "Never"}},
		"smtp.type":             {"enum": []string{"ClusterIP", "NodePort", "LoadBalancer"}},
		"api.drainDelaySeconds": {"minimum": 0, "maximum": 15},
		"delivery.concurrency":  {"minimum": 1, "maximum": 10_000},
		"delivery.egress":       {"enum": []string{"node", "release"}},
		"settings": {"propertyNames": map[string]any{"enum": slices.Sorted(maps.Keys(names))},
			"additionalProperties": scalar},
	}
	types := map[string]string{"!!str": "string", "!!int": "integer", "!!bool": "boolean", "!!map": "object",
		"!!seq": "array"}
	object := func() map[string]any {
		return map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{}}
	}
	root := object()
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = "Values of the Postrider chart. Generated from values.yaml: make chart"
	below := func(of map[string]any) map[string]any { return of["properties"].(map[string]any) }
	below(root)["global"] = map[string]any{"type": "object"} // Helm adds it
	for _, v := range chartValues(t) {
		at, parts := root, strings.Split(v.path, ".")
		for _, part := range parts[:len(parts)-1] {
			if below(at)[part] == nil {
				below(at)[part] = object()
			}
			at = below(at)[part].(map[string]any)
		}
		one := map[string]any{"type": types[v.node.Tag], "description": v.comment}
		if v.node.Tag == "!!int" {
			one["minimum"] = 0
		}
		maps.Copy(one, narrower[v.path])
		below(at)[parts[len(parts)-1]] = one
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(root); err != nil {
		t.Fatal(err)
	}
	golden(t, chartDir+"/values.schema.json", out.String())
}
