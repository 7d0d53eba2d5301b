package body

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestBase64Forms(t *testing.T) {
	t.Parallel()
	data := []byte{0xfb, 0xff, 0xfe, 0x00}
	standard, url := base64.StdEncoding.EncodeToString(data), base64.URLEncoding.EncodeToString(data)
	for _, good := range []string{standard, url, strings.TrimRight(standard, "="), strings.TrimRight(url, "="),
		standard[:3] + `\r\n` + standard[3:], " " + standard[:2] + `\t` + standard[2:] + `\n`,
		strings.ReplaceAll(standard, "/", `\/`), `\u002b` + standard[1:]} {
		d := newDecoder()
		got := d.Base64("data", parsed(t, `"`+good+`"`))
		if !bytes.Equal(got, data) || len(d.wrong) > 0 {
			t.Errorf("base64 of %q: %x with errors %v, want %x", good, got, d.wrong, data)
		}
	}
	for _, bad := range []string{"!", "A", "QUJD=====", "QU=JD", "Q Q Q Q Q", "QUJDé", "data:;base64,QUJD"} {
		d := newDecoder()
		if got := d.Base64("data", parsed(t, `"`+bad+`"`)); d.wrong["data"] != "must be valid base64" {
			t.Errorf("base64 of %q: %x with errors %v, want it refused", bad, got, d.wrong)
		}
	}
}

func parsed(t *testing.T, text string) Value {
	t.Helper()
	v, err := parseJSON([]byte(text))
	if err != nil {
		t.Fatalf("the text %s is not read as JSON: %v", text, err)
	}
	return v
}

func TestHalfASurrogatePairIsRefused(t *testing.T) {
	t.Parallel()
	for body, ok := range map[string]bool{
		`"\ud83d\udcee"`: true, `"\u00e9"`: true, `"\uFFFD"`: true,
		`"\ud83d"`: false, `"\ud83dx"`: false, `"\udcee"`: false, `"\ud83d\u0041"`: false, `"\ud83d\ud83d"`: false,
		`"\udcee\ud83d"`: false,
	} {
		if _, err := parseJSON([]byte(body)); (err == nil) != ok {
			t.Errorf("parsing %s: %v, want success: %t", body, err, ok)
		}
	}
}

func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0.5e+3,"x\u00e9\\\"",true,false,null,{}]}`, ` [ ] `, `"\b\f\n\r\t\/\u00e9\ud83d\ude00!"`, `"\ud800"`, `01`,
		`{"a":1,}`, "\"\x00\"", `nul`, `1 2`, `"\`, strings.Repeat("[", 70)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := parseJSON(data)
		if err != nil && strings.Contains(err.Error(), "surrogate") {
			return // encoding/json puts U+FFFD in its place
		}
		if bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > maxDepth {
			return // may be too deep for us and not for encoding/json
		}
		if want := json.Valid(data) && utf8.Valid(data); want != (err == nil) {
			t.Fatalf("%q: parseJSON says %v, encoding/json %v", data, err, want)
		}
		if err != nil {
			return
		}
		var want any
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		if err := decoder.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, tree(v)); diff != "" {
			t.Fatalf("parsing %q returns a different value than encoding/json: %s", data, diff)
		}
	})
}

// tree builds the same value as encoding/json.
func tree(v Value) any {
	switch v.Kind() {
	case KindNull:
		return nil
	case KindBoolean:
		return v.IsTrue()
	case KindString:
		return v.Text()
	case KindArray:
		out := []any{}
		for _, item := range v.Items() {
			out = append(out, tree(item))
		}
		return out
	case KindObject:
		out := map[string]any{}
		for name, member := range v.Members() {
			out[name] = tree(member)
		}
		return out
	default:
		return json.Number(v.raw)
	}
}
