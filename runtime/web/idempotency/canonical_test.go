package idempotency_test

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/web/idempotency"
)

func TestCanonicalFormIsThatOfEqualBodies(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		``:                                    ``,
		` { } `:                               `{}`,
		`[ ]`:                                 `[]`,
		`{"b":1,"a":[true,null , "x"]}`:       `{"a":[true,null,"x"],"b":1}`,
		"{\n\t\"a\" :\r\n {\"z\":1,\"b\":2}}": `{"a":{"b":2,"z":1}}`,
		`{"n":1.0,"m":1,"e":1E2,"h":12345678901234567890}`: `{"e":1E2,"h":12345678901234567890,"m":1,"n":1.0}`,
		`{"a":1,"b":2,"a":3}`:                              `{"a":3,"b":2}`,
		`{"\u0061":"\u0041\/\n\u00e9\u2028"}`:              `{"a":"A/\u000a` + "é\u2028" + `"}`,
		`"q\"\\"`:                                          `"q\"\\"`,
		`"\ud83d\ude00"`:                                   `"😀"`,
		`{"a":"]}\"","b":[{}]}`:                            `{"a":"]}\"","b":[{}]}`,
		`-0`:                                               `-0`,
	} {
		got, err := idempotency.Canonical([]byte(body), nil)
		if err != nil {
			t.Errorf("Canonical of %s failed: %v", body, err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
	for _, body := range []string{`{`, `{"a":1}x`, `nul`, `{"a":}`, `[1,]`, "\"\n\"", ` `,
		strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)} {
		if got, err := idempotency.Canonical([]byte(body), nil); err == nil {
			t.Errorf("%.20q is accepted as JSON: %.20q", body, got)
		}
	}
}

// Not parallel: the allocations of other tests would count.
func TestCanonicalFormDoesNotMultiplyLargeBodies(t *testing.T) { //nolint:paralleltest // see above
	body := []byte(`{"b":"` + strings.Repeat("QUJD", 1<<20) + `","a":1}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := idempotency.Canonical(body, nil); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > uint64(5*len(body)/2) {
		t.Errorf("a body of %d bytes allocates %d", len(body), grown)
	}
}

func TestLongStringsAreToldApartWithoutACopy(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("QUJD/", 10_000)
	canonical := func(body string) string {
		got, err := idempotency.Canonical([]byte(body), nil)
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
		t.Errorf("an equal body has another form:\n%s\n%s", one, same)
	}
	if other := canonical(`{"data":"` + long[1:] + `","name":"a"}`); other == one {
		t.Error("another body has the same form")
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
		got, err := idempotency.Canonical(body, nil)
		if len(body) == 0 || len(body) > 512 { // long strings have a form of their own; escapes make six bytes of one
			return
		}
		if (err == nil) != json.Valid(body) {
			t.Fatalf("%q: valid is %v, canonical form says %v", body, json.Valid(body), err)
		}
		if err != nil {
			return
		}
		if again, err := idempotency.Canonical(got, nil); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%q: canonical form %q is not stable: %q, %v", body, got, again, err)
		}
		if before, after := reference(t, body), reference(t, got); before != after {
			t.Fatalf("%q changed its meaning:\n%s\n%s", body, before, after)
		}
		if other, err := idempotency.Canonical([]byte(reference(t, body)), nil); err != nil ||
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
	if _, err := decoder.Token(); err != io.EOF {
		t.Fatalf("rest after %q", body)
	}
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestFindingA5AliasesAreOneField(t *testing.T) {
	t.Parallel()
	names := &idempotency.Names{First: map[string]string{"text": "text", "textBody": "text", "text_body": "text"},
		Within: map[string]*idempotency.Names{"files": {First: map[string]string{"name": "name", "filename": "name"}}}}
	canonical := func(body string) string {
		got, err := idempotency.Canonical([]byte(body), names)
		if err != nil {
			t.Fatalf("canonical form of %s: %v", body, err)
		}
		return string(got)
	}
	for want, bodies := range map[string][]string{
		`{"subject":"s","text":"a"}`: {`{"text":"a","subject":"s"}`,
			`{"subject":"s","textBody":"a"}`, `{"text_body":"a","text":null,"subject":"s"}`,
			`{"text":null,"subject":"s","textBody":"a","text_body":null}`},
		`{"files":[{"name":"x"},{"name":"y"}]}`: {`{"files":[{"filename":"x"},{"name":"y"}]}`,
			`{"files": [ {"name":null,"filename":"x"}, {"filename":"y","name":null} ]}`},
		// aliases of another object
		`{"filename":"f","other":{"filename":"g"},"text":"a"}`: {`{"textBody":"a","filename":"f","other":{"filename":"g"}}`},
		`{}`:               {`{}`, `{"text":null}`, `{"textBody":null,"text_body":null}`},
		`{"subject":null}`: {`{"subject":null}`},
	} {
		for _, body := range bodies {
			if got := canonical(body); got != want {
				t.Errorf("the canonical form of %s is %s, want %s", body, got, want)
			}
		}
	}
	if canonical(`{"text":"a"}`) == canonical(`{"textBody":"b"}`) {
		t.Error("two bodies with different texts have one canonical form")
	}
}

func TestAListOfOneIsItsItemWhereNamesSaysSo(t *testing.T) {
	t.Parallel()
	names := &idempotency.Names{First: map[string]string{"reply_to": "reply_to", "replyTo": "reply_to"},
		OneOrMany: map[string]bool{"to": true, "reply_to": true}}
	for body, want := range map[string]string{
		`{"to":"a"}`:                        `{"to":"a"}`,
		`{"to":[ "a" ]}`:                    `{"to":"a"}`,
		`{"to":[{"name":"n","email":"a"}]}`: `{"to":{"email":"a","name":"n"}}`,
		`{"to":["a","b"]}`:                  `{"to":["a","b"]}`,
		`{"to":[]}`:                         `{"to":[]}`,
		`{"to":[["a"]]}`:                    `{"to":["a"]}`,
		`{"replyTo":["a"],"cc":["a"]}`:      `{"cc":["a"],"reply_to":"a"}`,
	} {
		got, err := idempotency.Canonical([]byte(body), names)
		if err != nil || string(got) != want {
			t.Errorf("the canonical form of %s is %s (%v), want %s", body, got, err, want)
		}
	}
}
