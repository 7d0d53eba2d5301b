package journeys_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/test/harness"
)

// hostileTexts are used in every text field.
var hostileTexts = []string{
	"", " ", "a\r\nBcc: x@evil.test", "a\nb", "a\x00b", "\x1b[31m", "\x7f", "a\u0085b", "a\u2028b", "\u202eevil",
	"\ufeff", "\U0010ffff", "é😀日本",
	"=?utf-8?q?=0D=0AX-Evil:_1?=", "<script>alert(1)</script>", "' OR 1=1; --", "%00%0d%0a", "{{.}}${x}",
	"../../etc/passwd", strings.Repeat("x", 70_000),
	strings.Repeat("a@b.test,", 500), "-1", "99999999999999999999", "null",
}

// hostileValues are also used in every field of every body.
var hostileValues = []any{
	nil, true, 0, -1, json.Number("1e999"), json.Number("123456789012345678901234567890"), []any{}, map[string]any{},
	[]any{nil}, []any{[]any{[]any{}}},
	map[string]any{"": map[string]any{"\x00": 1}}, map[string]any{"__proto__": 1},
}

// hostileBodies replace a whole body.
var hostileBodies = []string{
	"", "null", "[]", "1", `"x"`, "{", `{"a":1}{}`, `{"a":1,"a":2}`, "\xff\xfe", "{\"a\":\"\xff\"}", `{"a":"\ud800"}`,
	"\xef\xbb\xbf{}", `{"a":NaN}`,
	strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 50_000), `{"` + strings.Repeat("n", 200_000) + `":1}`,
}

// Whatever value is in whatever field of whatever operation: never a 5xx, never a panic, and every error has
// the standard form.
func TestHostileRequestsAreClientErrors(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	asked := 0
	for _, o := range operations(t, app) {
		ask := func(what, path string, body any, headers ...string) {
			asked++
			checkRefusal(t, fmt.Sprintf("%s with %s", o, what), app.Do(t, o.method, path, body, headers...))
		}
		for i, text := range hostileTexts {
			id := fmt.Sprintf("text %d", i)
			if strings.Contains(o.path, "{") && text != "" {
				ask(id+" as id", o.pathFor(url.PathEscape(text)), o.body)
			}
			for _, p := range o.parameters {
				if p.In == "query" {
					ask(id+" as "+p.Name, o.pathFor("x")+"?"+p.Name+"="+url.QueryEscape(text), o.body)
				}
			}
			ask(id+" as a query parameter", o.pathFor("x")+"?"+url.QueryEscape(text)+"=1", o.body)
		}
		if o.body == nil {
			continue
		}
		for i, body := range hostileBodies {
			ask(fmt.Sprintf("body %d", i), o.pathFor("x"), body)
			ask(fmt.Sprintf("body %d and a key", i), o.pathFor("x"), body, "Idempotency-Key",
				fmt.Sprintf("%s %d", o, i))
		}
		for place, body := range changed(o.body) {
			ask("a changed "+place, o.pathFor("x"), body)
		}
	}
	if asked < 500 {
		t.Errorf("only %d requests were made", asked)
	}
	if strings.Contains(app.Log.String(), "panicked") {
		t.Error("something panicked")
	}
}

func checkRefusal(t *testing.T, what string, got harness.Answer) {
	t.Helper()
	if got.Status >= http.StatusInternalServerError {
		t.Errorf("%s: got status %d and %.300s, want no server error", what, got.Status, got.Body)
	}
	if got.Status < http.StatusBadRequest || got.Status == http.StatusRequestHeaderFieldsTooLarge {
		return // net/http responds to a request line that is too long
	}
	var refusal struct {
		Error struct{ Message, Code string }
	}
	// its body is defined by the contract
	if err := json.Unmarshal(got.Body, &refusal); err != nil || refusal.Error.Message == "" ||
		refusal.Error.Code == "" && got.Status != http.StatusUnauthorized {
		t.Errorf("%s: %d without a standard error: %.300s", what, got.Status, got.Body)
	}
	if len(got.Body) > 64<<10 {
		t.Errorf("%s: an error of %d bytes", what, len(got.Body))
	}
}

// changed returns the body with each hostile value in each of its places in turn, and with each hostile text
// as the name of a field.
func changed(body any) map[string]any {
	out := map[string]any{}
	var visit func(path string, v any, rebuild func(any) any)
	visit = func(path string, v any, rebuild func(any) any) {
		for i, text := range hostileTexts {
			out[fmt.Sprintf("%s: text %d", path, i)] = rebuild(text)
		}
		for i, value := range hostileValues {
			out[fmt.Sprintf("%s: value %d", path, i)] = rebuild(value)
		}
		switch v := v.(type) {
		case map[string]any:
			for i, text := range hostileTexts {
				out[fmt.Sprintf("%s: name %d", path, i)] = rebuild(withField(v, text, "x"))
			}
			for name, member := range v {
				visit(path+"."+name, member, func(n any) any { return rebuild(withField(v, name, n)) })
			}
		case []any:
			for i, item := range v {
				visit(fmt.Sprintf("%s[%d]", path, i), item, func(n any) any {
					list := append([]any{}, v...)
					list[i] = n
					return rebuild(list)
				})
			}
		}
	}
	visit("body", body, func(v any) any { return v })
	return out
}

func withField(object map[string]any, name string, value any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, object)
	out[name] = value
	return out
}

// The same for GraphQL: its arguments, its variables and the request itself.
func TestHostileGraphQLRequestsAreClientErrors(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	check := func(what string, body any) {
		if got := app.Do(t, http.MethodPost, "/graphql", body); got.Status >= http.StatusInternalServerError ||
			strings.Contains(string(got.Body), "internal_error") {
			t.Errorf("%s: got status %d and %.300s, want no server error", what, got.Status, got.Body)
		}
	}
	for i, body := range hostileBodies {
		check(fmt.Sprintf("body %d", i), body)
	}
	const query = `query($id:ID!,$after:String,$first:Int){email(id:$id){id timeline{id}} domain(id:$id){id} emails(first:$first,after:$after){nodes{id}} domains(first:$first,after:$after){nodes{id}} ` +
		`receivedEmail(id:$id){id text html} receivedEmails(first:$first,after:$after,filter:{query:$after,to:$after,from:$after,domainId:$after}){nodes{id}} addressRules(domainId:$id){catchAll}}`
	for _, name := range []string{"id", "after", "first"} {
		for i, text := range hostileTexts {
			check(fmt.Sprintf("%s: text %d", name, i),
				map[string]any{"query": query, "variables": map[string]any{"id": "x", name: text}})
		}
		for i, value := range hostileValues {
			check(fmt.Sprintf("%s: value %d", name, i),
				map[string]any{"query": query, "variables": map[string]any{"id": "x", name: value}})
		}
	}
	for i, text := range hostileTexts {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprintf("argument %d", i), map[string]any{"query": `{email(id:` + string(quoted) + `){id}}`})
		check(fmt.Sprintf("query %d", i), map[string]any{"query": text})
		check(fmt.Sprintf("operation name %d", i), map[string]any{"query": "{__typename}", "operationName": text,
			"variables": text, "extensions": text})
	}
	if strings.Contains(app.Log.String(), "panicked") {
		t.Error("something panicked")
	}
}

// Below /api even a path that no router accepts gets a standard error.
func TestUncleanPathsAreNotRedirected(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	for _, path := range []string{"/api", "/api/", "/api//emails", "/api/emails/", "/api/emails/../emails",
		"/api/./emails", "/api/nope"} {
		got := app.Do(t, http.MethodGet, path, nil)
		if got.Status != http.StatusNotFound {
			t.Errorf("GET %s got status %d and %.200s, want 404", path, got.Status, got.Body)
		}
		checkRefusal(t, path, got)
	}
}
