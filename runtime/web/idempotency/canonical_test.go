package idempotency_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"math/big"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/web/idempotency"
)

func TestEqualBodiesHaveSameCanonicalForm(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		``:                                    ``,
		` { } `:                               `{}`,
		`[ ]`:                                 `[]`,
		`{"b":1,"a":[true,null , "x"]}`:       `{"a":[true,null,"x"],"b":1}`,
		"{\n\t\"a\" :\r\n {\"z\":1,\"b\":2}}": `{"a":{"b":2,"z":1}}`,
		`{"n":1.0,"m":1,"e":1E2,"h":12345678901234567890}`: `{"e":100,"h":12345678901234567890,"m":1,"n":1}`,
		`{"a":1,"b":2,"a":3}`:                              `{"a":3,"b":2}`,
		`{"\u0061":"\u0041\/\n\u00e9\u2028"}`:              `{"a":"A/\u000a` + "é\u2028" + `"}`,
		`"q\"\\"`:                                          `"q\"\\"`,
		`"\ud83d\ude00"`:                                   `"😀"`,
		`{"a":"]}\"","b":[{}]}`:                            `{"a":"]}\"","b":[{}]}`,
		`-0`:                                               `0`,
	} {
		got, err := idempotency.CanonicalBody([]byte(body), nil)
		if err != nil {
			t.Errorf("Canonical of %s failed: %v", body, err)
		}
		if diff := gocmp.Diff(want, string(got)); diff != "" {
			t.Errorf("the canonical form of %s differs (-want +got):\n%s", body, diff)
		}
	}
	for _, body := range []string{`{`, `{"a":1}x`, `nul`, `{"a":}`, `[1,]`, "\"\n\"", ` `,
		strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)} {
		if got, err := idempotency.CanonicalBody([]byte(body), nil); err == nil {
			t.Errorf("%.20q was accepted as JSON: %.20q", body, got)
		}
	}
}

// Not parallel, because allocations of other tests would count.
func TestCanonicalFormOfLargeBodyIsSmall(t *testing.T) { //nolint:paralleltest // see above
	body := []byte(`{"b":"` + strings.Repeat("QUJD", 1<<20) + `","a":1}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := idempotency.CanonicalBody(body, nil); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > uint64(5*len(body)/2) {
		t.Errorf("a body of %d bytes allocated %d", len(body), grown)
	}
}

func TestLongStringsAreDigested(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("QUJD/", 10_000)
	canonical := func(body string) string {
		got, err := idempotency.CanonicalBody([]byte(body), nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
	one := canonical(`{"data":"` + long + `","name":"a"}`)
	if len(one) > 200 {
		t.Errorf("the canonical form has %d bytes", len(one))
	}
	if same := canonical(`{"name":"a", "data":"` + strings.ReplaceAll(long, "/", `\/`) + `"}`); same != one {
		t.Errorf("equal bodies have different forms:\n%s\n%s", one, same)
	}
	if other := canonical(`{"data":"` + long[1:] + `","name":"a"}`); other == one {
		t.Error("different bodies have the same form")
	}
}

// The standard decoder and encoder are the reference: bodies have the same canonical form exactly if they
// decode to the same value.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"b":1,"a":[true,null,"x"]}`, `"\ud800"`, "\"\xff\"", `{"a":{"a":{}},"":0}`,
		`{"é":1,"e\u0301":2,"\u00e9":3}`, `-1.5e+10`, `{`, ` 1`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := idempotency.CanonicalBody(body, nil)
		if len(body) == 0 || len(body) > 512 { // long strings have a different form; an escape turns one byte into six
			return
		}
		if (err == nil) != json.Valid(body) {
			t.Fatalf("%q is valid: %v, but Canonical reports %v", body, json.Valid(body), err)
		}
		if err != nil {
			return
		}
		if again, err := idempotency.CanonicalBody(got, nil); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%q: canonical form %q is not stable: %q, %v", body, got, again, err)
		}
		if before, after := reference(t, body), reference(t, got); before != after {
			t.Fatalf("%q changed its meaning:\n%s\n%s", body, before, after)
		}
		if other, err := idempotency.CanonicalBody([]byte(reference(t, body)), nil); err != nil ||
			!bytes.Equal(other, got) {
			t.Fatalf("%q: an equal body has another canonical form:\n%s\n%s", body, got, other)
		}
	})
}

func reference(t *testing.T, body []byte) string {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	value = withoutSpelling(value)
	if _, err := decoder.Token(); err != io.EOF {
		t.Fatalf("rest after %q", body)
	}
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// withoutSpelling replaces numbers by their values, if these can be computed.
func withoutSpelling(value any) any {
	switch v := value.(type) {
	case json.Number:
		mantissa, exponent, _ := strings.Cut(strings.ToLower(string(v)), "e")
		if n, err := strconv.Atoi(cmp.Or(exponent, "0")); err != nil || n > 100 || n < -100 || len(mantissa) > 100 {
			return v
		}
		if n, ok := new(big.Rat).SetString(string(v)); ok {
			return json.Number(strings.TrimSuffix(n.FloatString(200), "."))
		}
		return v
	case []any:
		for i := range v {
			v[i] = withoutSpelling(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = withoutSpelling(v[name])
		}
	}
	return value
}

// sendForm is a form that covers all fields of a send.
func sendForm() *idempotency.Form {
	field := func(name string, form *idempotency.Form) *idempotency.Field {
		return &idempotency.Field{Name: name, Form: form}
	}
	fields := func(names map[string]string) map[string]*idempotency.Field {
		out := map[string]*idempotency.Field{}
		for name, first := range names {
			out[name] = field(first, nil)
		}
		return out
	}
	form := &idempotency.Form{Fields: fields(map[string]string{"subject": "subject", "html": "html", "htmlBody": "html",
		"text": "text", "textBody": "text", "text_body": "text"})}
	mailbox := &idempotency.Form{Fields: fields(map[string]string{"email": "email", "name": "name"}), OneOrMany: true}
	form.Fields["to"], form.Fields["cc"] = field("to", mailbox), field("cc", mailbox)
	form.Fields["reply_to"] = field("reply_to", mailbox)
	form.Fields["replyTo"] = form.Fields["reply_to"]
	form.Fields["files"] = field("files", &idempotency.Form{Fields: fields(map[string]string{"name": "name",
		"filename": "name", "data": "data"})})
	form.Fields["tags"] = field("tags", &idempotency.Form{Fields: fields(map[string]string{"name": "name",
		"value": "value"}), Tags: true, OmitEmpty: true})
	form.Fields["headers"] = field("headers", &idempotency.Form{Headers: true, OmitEmpty: true})
	form.Fields["template"] = field("template", &idempotency.Form{Fields: map[string]*idempotency.Field{
		"alias": field("alias", nil), "variables": field("variables", &idempotency.Form{OmitEmpty: true})}})
	form.Fields["at"] = field("at", &idempotency.Form{Text: func(text string) string {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return text
		}
		return at.UTC().Format(time.RFC3339Nano)
	}})
	form.Fields["unsubscribe"] = &idempotency.Field{Name: "unsubscribe", Default: "false", DefaultUnless: "template"}
	form.Fields["scope"] = &idempotency.Field{Name: "scope", Default: `"full"`}
	return form
}

func TestFormUnifiesEqualBodies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want   string
		bodies []string
	}{
		"aliases": {`{"subject":"s","text":"a"}`, []string{`{"text":"a","subject":"s"}`, `{"subject":"s","textBody":"a"}`,
			`{"text_body":"a","text":null,"subject":"s"}`, `{"text":null,"subject":"s","te\u0078tBody":"a"}`}},
		"aliases in a list": {`{"files":[{"name":"x"},{"name":"y"}]}`, []string{`{"files":[{"filename":"x"},{"name":"y"}]}`,
			`{"files": [ {"name":null,"filename":"x"}, {"filename":"y","data":null} ]}`}},
		"aliases of another object": {`{"filename":"f","other":{"filename":"g"},"text":"a"}`,
			[]string{`{"textBody":"a","filename":"f","other":{"filename":"g"}}`}},
		"omitted": {`{}`, []string{`{}`, `{"text":null}`, `{"textBody":null,"text_body":null}`, `{"to":[],"cc":null}`,
			`{"files":[],"tags":[],"headers":{}}`, `{"tags":{},"scope":"full","unsubscribe":false}`,
			`{"headers":{"X-A":null},"at":null}`, `{"scope":null}`}},
		"not declared":         {`{"other":null,"rest":[]}`, []string{`{"rest":[],"other":null}`}},
		"one address":          {`{"to":"a"}`, []string{`{"to":[ "a" ]}`}},
		"one named address":    {`{"to":{"email":"a","name":"n"}}`, []string{`{"to":[{"name":"n","email":"a"}]}`}},
		"no name":              {`{"to":{"email":"a"}}`, []string{`{"to":[{"name":null,"email":"a"}]}`}},
		"several addresses":    {`{"to":["a","b"]}`, []string{`{"to":["a","b"]}`}},
		"a list in a list":     {`{"to":["a","b"]}`, []string{`{"to":[["a","b"]]}`}},
		"an alias with a list": {`{"cc":"a","reply_to":"a"}`, []string{`{"replyTo":["a"],"cc":["a"]}`}},
		"tags": {`{"tags":{"a":"1","b-":"2"}}`, []string{`{"tags":{"b-":"2","a":"1"}}`,
			`{"tags":[{"name":"b-","value":"2"},{"value":"1","name":"a"}]}`}},
		"headers": {`{"headers":{"x-a":"1","x-b":"2"}}`, []string{`{"headers":{"X-B":"2","x-A":"1"}}`}},
		"instants": {`{"at":"2030-05-01T07:00:00Z"}`, []string{`{"at":"2030-05-01T09:00:00+02:00"}`,
			`{"at":"2030-05-01T07:00:00.000Z"}`}},
		"no time": {`{"at":"soon"}`, []string{`{"at":"soon"}`}},
		"variables": {`{"template":{"alias":"x"}}`, []string{`{"template":{"variables":{},"alias":"x"}}`,
			`{"template":{"variables":null,"alias":"x"}}`}},
		"the template decides": {`{"template":{"alias":"x"},"unsubscribe":false}`,
			[]string{`{"unsubscribe":false,"template":{"alias":"x"}}`}},
		"no template": {`{"text":"a"}`, []string{`{"unsubscribe":false,"text":"a","template":null}`}},
		"data of the caller": {`{"template":{"alias":"x","variables":{"a":[],"b":null,"n":1.5}}}`,
			[]string{`{"template":{"alias":"x","variables":{"b":null,"a":[],"n":15e-1}}}`}},
	} {
		for _, body := range append(c.bodies, c.want) {
			got, err := idempotency.CanonicalBody([]byte(body), sendForm())
			if err != nil || string(got) != c.want {
				t.Errorf("%s: the canonical form of %s is %s (%v), want %s", name, body, got, err, c.want)
			}
		}
	}
}

func TestFormDistinguishesDifferentBodies(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, body := range []string{`{}`, `{"text":""}`, `{"text":"a"}`, `{"textBody":"b"}`, `{"unsubscribe":true}`,
		`{"scope":"read"}`, `{"to":["a","b"]}`, `{"to":["b","a"]}`, `{"tags":{"a":"1"}}`, `{"tags":{"A":"1"}}`,
		`{"tags":[{"name":"a","value":"1"},{"name":"a","value":"2"}]}`, `{"tags":[{"name":"a","value":1}]}`,
		`{"tags":[{"name":"b","value":"2","x":1}]}`, `{"headers":{"X-A":"v"}}`, `{"headers":{"X-A":"V"}}`,
		`{"at":"2030-05-01T09:00:00+02:00"}`, `{"at":"2030-05-01T09:00:00+01:00"}`, `{"at":"2030-05-01T09:00:00"}`,
		`{"template":{"variables":{"n":1}}}`, `{"template":{"variables":{"n":"1"}}}`,
		`{"template":{"variables":{"n":1.01}}}`,
		`{"template":{"variables":{"n":-1}}}`, `{"template":{"variables":{"n":null}}}`} {
		got, err := idempotency.CanonicalBody([]byte(body), sendForm())
		if err != nil {
			t.Errorf("canonical form of %s: %v", body, err)
		}
		if other, found := seen[string(got)]; found {
			t.Errorf("%s and %s have one canonical form, %s", body, other, got)
		}
		seen[string(got)] = body
	}
}

func TestEqualNumbersHaveSameForm(t *testing.T) {
	t.Parallel()
	for want, numbers := range map[string][]string{
		"0":                                {"0", "-0", "0.0", "0e5", "-0.00e-7", "0e4000"},
		"1":                                {"1", "1.0", "1e0", "10e-1", "0.1E1", "1000.000e-3"},
		"-25":                              {"-25", "-2.5e1", "-25.00"},
		"100":                              {"100", "1e2", "1E+2", "100.0"},
		"12.5":                             {"12.5", "12.50", "1.25e1", "125e-1"},
		"0.005":                            {"0.005", "5e-3", "0.0050"},
		"1e400":                            {"1e400", "10e399", "0.1e401"},
		"1e-400":                           {"1e-400", "0.1e-399"},
		"-12e-99":                          {"-12e-99", "-1.2e-98"},
		"30000000000000000000000000000001": {"30000000000000000000000000000001", "30000000000000000000000000000001.0"},
		"1e99999999999999999999":           {"1e99999999999999999999"}, // equal only to itself
		"10000000000000000000000000000000000000000": {"1e40"},
		"1e41": {"1e41", "10e40"},
	} {
		for _, number := range numbers {
			if got, err := idempotency.CanonicalBody([]byte(number), nil); err != nil || string(got) != want {
				t.Errorf("the canonical form of %s is %s (%v), want %s", number, got, err, want)
			}
		}
	}
}
