package definition_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/postrider/postrider/modules/automations/definition"
)

// compileSchema returns the JSON Schema compiled by a third-party validator.
func compileSchema(tb testing.TB) *jsonschema.Schema {
	tb.Helper()
	document, err := json.Marshal(definition.Schema())
	if err != nil {
		tb.Fatalf("cannot encode the schema: %v", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("automation.json", parseInstance(tb, document)); err != nil {
		tb.Fatalf("cannot decode the schema: %v", err)
	}
	schema, err := c.Compile("automation.json")
	if err != nil {
		tb.Fatalf("the schema is not valid under 2020-12: %v", err)
	}
	return schema
}

func parseInstance(tb testing.TB, document []byte) any {
	tb.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		tb.Fatalf("%s: %v", document, err)
	}
	return value
}

// onlyDecoded lists invalid definitions that a schema cannot reject, because the error involves two parts of
// the definition or an embedded language.
var onlyDecoded = map[string]bool{
	"duplicate key": true, "backward goto": true, "goto to itself": true, "goto to an unknown step": true, "backward case": true, "duplicate variant": true,
	"name with NUL": true, "a reserved event": true, "zones": true, "an invalid sender": true, "an empty window": true, "headers of requests": true, "a long header": true,
}

// Decode and the schema come from one table, so they accept the same definitions.
func TestSchemaRejectsInvalidDefinitions(t *testing.T) {
	t.Parallel()
	schema := compileSchema(t)
	for name, test := range refused {
		if !json.Valid([]byte(test.document)) {
			continue
		}
		err := schema.Validate(parseInstance(t, []byte(test.document)))
		if takes := err == nil; takes != onlyDecoded[name] {
			t.Errorf("%s: accepted by the schema: %t (%v), want %t\n%s", name, takes, err, onlyDecoded[name],
				test.document)
		}
	}
}

func TestSchemaAcceptsValidDefinitions(t *testing.T) {
	t.Parallel()
	schema := compileSchema(t)
	page, err := os.ReadFile("../../../docs/automations.md")
	if err != nil {
		t.Fatal(err)
	}
	documents := [][]byte{[]byte(verify)}
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(page, -1) {
		documents = append(documents, block[1])
	}
	for _, step := range []string{
		`{"type": "delay", "duration": "PT1.5S", "name": "ä", "next": "end"}`,
		`{"type": "wait_until", "at": "now", "on_past": "fail"}`,
		`{"type": "wait_until", "window": {"from": "22:00", "to": "24:00"}, "timezone": "{{event.data.zone}}"}`,
		`{"type": "wait_for_event", "event": "a", "timeout": "P1W", "since": "P1D"}`,
		`{"type": "webhook", "url": "HTTPS://example.com/", "method": "PUT", "body": null}`,
		`{"type": "webhook", "url": "https://example.com/", "body": [1, {"a": "b"}], "capture": true, "on_error": "continue"}`,
		`{"type": "send_email", "template": {"id": "tpl_x", "variables": {"a": 1}}, "to": ["a@example.com"], "tags": [{"name": "a", "value": "b"}], "unsubscribe": false}`,
		`{"type": "branch", "cases": [{"if": "true", "goto": "over"}], "otherwise": "end"}, {"key": "over", "type": "end"}`,
	} {
		documents = append(documents, []byte(withStep(step)))
	}
	for _, document := range documents {
		_, wrong := definition.Decode(document)
		err := schema.Validate(parseInstance(t, document))
		if (len(wrong) == 0) != (err == nil) {
			t.Errorf("Decode returned %v and the schema %v, want both to accept or both to reject it:\n%s", wrong,
				err, document)
		}
	}
	if len(documents) < 10 {
		t.Errorf("tested %d definitions, want more than the five recipes", len(documents))
	}
}
