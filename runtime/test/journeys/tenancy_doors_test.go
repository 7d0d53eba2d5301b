package journeys_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/postrider/postrider/runtime/test/harness"
)

// place is a position in a call that may contain the id of a record.
type place struct {
	name string
	call func(t *testing.T, id string) string // returns the response
}

// varying are the parts of a response that differ between any two requests.
var varying = regexp.MustCompile(`req_[0-9a-z]+|"last_used_at":[^,}]+|\d{4}-\d\d-\d\dT[0-9:.]+Z|data-[0-9a-f]{16}`)

// In every API other than /api, an id of another account gets the response of an unknown one: each kind of id is tried
// in each place of each call, whether it belongs there or not.
func TestForeignIDsInEveryPlace(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	stranger := app.Stranger(t, "stranger")
	ids, before := map[string]string{}, map[string]string{}
	for resource, kind := range owned {
		ids[resource] = kind.add(t, app)
	}
	waitForStatus(t, app, ids["/emails"], "delivered")
	scenarioOf(t, app).exec(t, `UPDATE domains SET due_at = NULL`) // a periodic check changes a domain after a minute
	state := func(resource string) string {
		return string(app.Do(t, http.MethodGet, "/api"+resource+"/"+ids[resource], nil).Body)
	}
	for resource := range owned {
		before[resource] = state(resource)
	}
	swaps := map[string]int{}
	for _, at := range slices.Concat(providerPlaces(stranger), agentPlaces(t, stranger), mutationPlaces(t, stranger)) {
		for resource, id := range ids {
			door, _, _ := strings.Cut(at.name, " ")
			swaps[door]++
			none := similarID(id)
			unknown := normalizeResponse(at.call(t, none), none)
			if foreign := normalizeResponse(at.call(t, id), id); foreign != unknown {
				t.Errorf("%s distinguishes another account's id %s of %s from an unknown one: got %s, want %s", at.name,
					id, resource, foreign, unknown)
			}
		}
	}
	for resource := range owned {
		if after := state(resource); after != before[resource] {
			t.Errorf("another account changed the owner's record of %s: %s, before %s", resource, after, before[resource])
		}
	}
	total := 0
	for _, n := range swaps {
		total += n
	}
	if total < 2000 || len(swaps) != 6 {
		t.Errorf("tried %d swaps: %v, want at least 2000 over 6 APIs", total, swaps)
	}
	t.Logf("tried %d swaps: %v", total, swaps)
}

// similarID returns an unknown id of the same kind and time: lists may continue after any id.
func similarID(id string) string {
	last := "a"
	if strings.HasSuffix(id, last) {
		last = "b"
	}
	return id[:len(id)-1] + last
}

func normalizeResponse(response, id string) string {
	return varying.ReplaceAllString(strings.ReplaceAll(response, id, "ID"), "…")
}

// providerPlaces are the parameters of the paths of other providers, their cursors, and templates in bodies.
func providerPlaces(stranger *harness.App) []place {
	var all []place
	parameter := regexp.MustCompile(`\{[a-z]+\}`)
	for _, api := range compatAPIs {
		credentials := api.credentials(stranger.APIKey)
		add := func(method, path string, body func(id string) any) {
			all = append(all, place{api.Prefix + " " + method + " " + path, func(t *testing.T, id string) string {
				t.Helper()
				var sent any
				if body != nil {
					sent = body(id)
				}
				got := stranger.Do(t, method, strings.ReplaceAll(path, "ID", id), sent, credentials...)
				return fmt.Sprint(got.Status, " ", string(got.Body))
			}})
		}
		for _, route := range api.Routes {
			if route.Method == "" || strings.Contains(route.Path, "{...}") {
				continue
			}
			var body func(string) any
			if route.Method != http.MethodGet && route.Method != http.MethodDelete {
				body = func(string) any { return map[string]any{} }
			}
			for _, name := range parameter.FindAllString(route.Path, -1) {
				path := strings.Replace(route.Path, name, "ID", 1)
				add(route.Method, api.Prefix+parameter.ReplaceAllString(path, "0"), body)
			}
			if route.Method == http.MethodGet && !strings.Contains(route.Path, "{") {
				add(route.Method, api.Prefix+route.Path+"?after=ID", nil)
				add(route.Method, api.Prefix+route.Path+"?before=ID", nil)
			}
		}
		for path, body := range map[string]func(id string) any{
			"/resend/emails": func(id string) any {
				return asked{"from": "ada@dev.test", "to": "bob@example.net", "template": asked{"id": id}}
			},
			"/resend/suppressions/batch/remove": func(id string) any { return asked{"ids": []string{id}} },
			"/sendgrid/v3/mail/send": func(id string) any {
				return asked{"from": asked{"email": "ada@dev.test"}, "template_id": id,
					"personalizations": []asked{{"to": []asked{{"email": "bob@example.net"}}}}}
			},
			"/postmark/email/withTemplate": func(id string) any {
				return asked{"From": "ada@dev.test", "To": "bob@example.net", "TemplateAlias": id, "TemplateModel": asked{}}
			},
		} {
			if strings.HasPrefix(path, api.Prefix+"/") {
				add(http.MethodPost, path, body)
			}
		}
	}
	return all
}

// agentPlaces are the texts in the arguments of MCP tools.
func agentPlaces(t *testing.T, stranger *harness.App) []place {
	t.Helper()
	var all []place
	session := connectAgent(t, stranger)
	for name, tool := range session.tools(t) {
		properties, required := inputOf(t, tool)
		for _, property := range slices.Sorted(maps.Keys(properties)) {
			kind := properties[property]
			if kind != "string" && kind != "array" {
				continue
			}
			all = append(all, place{"/mcp " + name + "." + property, func(t *testing.T, id string) string {
				t.Helper()
				arguments := map[string]any{}
				for _, other := range required {
					arguments[other] = map[string]any{"string": "xx", "integer": 1, "boolean": false, "array": []string{"x@example.net"},
						"object": map[string]any{}}[properties[other]]
				}
				arguments[property] = id
				if kind == "array" {
					arguments[property] = []string{id}
				}
				result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
				if err != nil {
					return err.Error() // the arguments do not match the schema
				}
				encoded, err := json.Marshal(result)
				if err != nil {
					t.Fatal(err)
				}
				return string(encoded)
			}})
		}
	}
	return all
}

// inputOf returns the types of the arguments of a tool, and the arguments that it requires.
func inputOf(t *testing.T, tool *mcp.Tool) (types map[string]string, required []string) {
	t.Helper()
	var schema struct {
		Properties map[string]struct {
			Type  any
			AnyOf []any
		}
		Required []string
	}
	encoded, err := json.Marshal(tool.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(encoded, &schema); err != nil {
		t.Fatalf("%s has the schema %s: %v", tool.Name, encoded, err)
	}
	types = map[string]string{}
	for name, property := range schema.Properties {
		switch kind := property.Type.(type) {
		case string:
			types[name] = kind
		case []any: // one of them is null
			for _, one := range kind {
				if one != "null" {
					types[name] = fmt.Sprint(one)
				}
			}
		}
	}
	return types, schema.Required
}

// mutationPlaces are the IDs and texts in the arguments of the mutations that the REST API carries out.
func mutationPlaces(t *testing.T, stranger *harness.App) []place {
	t.Helper()
	var all []place
	for name, query := range map[string]string{
		"cancelEmail.id": `mutation($v:ID!){cancelEmail(id:$v){id content{text}}}`,
		"rescheduleEmail.id": `mutation($v:ID!){rescheduleEmail(id:$v,scheduledAt:"` +
			time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"){id}}`,
		"addSuppression.email":                 `mutation($v:String!){addSuppression(email:$v){id}}`,
		"removeSuppression.id":                 `mutation($v:ID!){removeSuppression(id:$v){id}}`,
		"replayWebhookDelivery.id":             `mutation($v:ID!){replayWebhookDelivery(id:$v){id event:eventId}}`,
		"replayWebhookDelivery.idempotencyKey": `mutation($v:String!){replayWebhookDelivery(id:"whd_01kf0m4w7he6x8q2v5b3n9c1tz",idempotencyKey:$v){id}}`,
		"sendEmail.template.id":                `mutation($v:ID!){sendEmail(email:{from:"ada@dev.test",to:"bob@example.net",template:{id:$v}}){id}}`,
		"sendEmail.template.alias":             `mutation($v:String!){sendEmail(email:{from:"ada@dev.test",to:"bob@example.net",template:{alias:$v}}){id}}`,
		"sendEmail.from":                       `mutation($v:String!){sendEmail(email:{from:$v,to:"bob@example.net",subject:"s",text:"t"}){id}}`,
		"sendEmail.to":                         `mutation($v:String!){sendEmail(email:{from:"ada@dev.test",to:[$v],subject:"s",text:"t"}){id}}`,
	} {
		all = append(all, place{"/graphql " + name, func(t *testing.T, id string) string {
			t.Helper()
			got := stranger.Do(t, http.MethodPost, "/graphql", asked{"query": query, "variables": asked{"v": id}})
			if !strings.Contains(string(got.Body), `"errors"`) {
				t.Errorf("%s with %s succeeded: %s", name, id, got.Body)
			}
			return fmt.Sprint(got.Status, " ", string(got.Body))
		}})
	}
	return all
}
