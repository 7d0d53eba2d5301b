package rest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/fault"
)

func decode(t *testing.T, body string) (sending.Message, error) {
	t.Helper()
	root, err := parseObject([]byte(body))
	if err != nil {
		return sending.Message{}, err
	}
	return decodeMessage(root)
}

func TestEveryFormOfASendRequest(t *testing.T) {
	t.Parallel()
	mailbox := func(s string) []sending.Mailbox { return []sending.Mailbox{{Text: s}} }
	nine := time.Date(2026, 11, 21, 9, 0, 0, 250_000_000, time.UTC)
	for name, c := range map[string]struct {
		body string
		want sending.Message
	}{
		"objects": {`{"from":{"email":"a@b.c","name":"A"},"to":{"email":"d@e.f"},"cc":["x@y.z",{"email":"q@r.s","name":null}]}`,
			sending.Message{From: sending.Mailbox{Email: "a@b.c", Name: "A"}, To: []sending.Mailbox{{Email: "d@e.f"}}, CC: []sending.Mailbox{{Text: "x@y.z"}, {Email: "q@r.s"}}}},
		"strings":       {`{"from":"A <a@b.c>","to":"d@e.f","bcc":"g@h.i"}`, sending.Message{From: sending.Mailbox{Text: "A <a@b.c>"}, To: mailbox("d@e.f"), BCC: mailbox("g@h.i")}},
		"htmlBody":      {`{"htmlBody":"<p>"}`, sending.Message{HTML: "<p>"}},
		"html_body":     {`{"html_body":"<p>"}`, sending.Message{HTML: "<p>"}},
		"textBody":      {`{"textBody":"t"}`, sending.Message{Text: "t"}},
		"text_body":     {`{"text_body":"t"}`, sending.Message{Text: "t"}},
		"plain_body":    {`{"plain_body":"t"}`, sending.Message{Text: "t"}},
		"replyTo":       {`{"replyTo":["a@b.c"]}`, sending.Message{ReplyTo: mailbox("a@b.c")}},
		"escapes":       {`{"subject":"gr\u00fc\u00dfe \ud83d\ude00 \"x\" \/"}`, sending.Message{Subject: `grüße 😀 "x" /`}},
		"null":          {`{"subject":"s","html":null,"htmlBody":"x","scheduled_at":null,"template":null,"unsubscribe":null}`, sending.Message{Subject: "s", HTML: "x"}},
		"unsubscribe":   {`{"subject":"s","unsubscribe":false}`, sending.Message{Subject: "s", Unsubscribe: new(bool)}},
		"scheduledAt":   {`{"scheduledAt":"2026-11-21T10:00:00.250+01:00"}`, sending.Message{ScheduledAt: &nine}},
		"category":      {`{"category":"Product news"}`, sending.Message{Category: "Product news"}},
		"template":      {`{"template":{"alias":"receipt","variables":{"n":1,"f":2.50,"b":true,"x":null,"l":[{"a":"b"}],"o":{"p.q":"r"}}}}`, sending.Message{Template: &sending.TemplateRef{Alias: "receipt", Variables: map[string]any{"n": json.Number("1"), "f": json.Number("2.50"), "b": true, "x": nil, "l": []any{map[string]any{"a": "b"}}, "o": map[string]any{"p.q": "r"}}}}},
		"template id":   {`{"template":{"id":"tpl_1","alias":null,"variables":null}}`, sending.Message{Template: &sending.TemplateRef{ID: "tpl_1"}}},
		"tags array":    {`{"tags":[{"name":"k","value":"v"}]}`, sending.Message{Tags: []shape.Tag{{Name: "k", Value: "v"}}}},
		"headers":       {`{"headers":{"X-B":"2","X-A":"1","X-C":null}}`, sending.Message{Headers: []shape.Header{{Name: "X-B", Value: "2"}, {Name: "X-A", Value: "1"}}}},
		"attachment":    {`{"attachments":[{"name":"a","content_type":"b/c","data":"QUJD","content_id":"d"}]}`, sending.Message{Attachments: []sending.Attachment{{Name: "a", ContentType: "b/c", Data: []byte("ABC"), ContentID: "d"}}}},
		"other names":   {`{"attachments":[{"filename":"a","contentType":"b/c","content":"QUJD","contentId":"d"}]}`, sending.Message{Attachments: []sending.Attachment{{Name: "a", ContentType: "b/c", Data: []byte("ABC"), ContentID: "d"}}}},
		"nothing in it": {`{"cc":[],"attachments":[],"headers":{}, "tags":[]}`, sending.Message{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := decode(t, c.body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// With tags as an object sending's own reasons are given under the names that the
// caller wrote.
func TestTagsAsAnObject(t *testing.T) {
	t.Parallel()
	good := `{"from":"a@example.com","to":"b@example.com","subject":"s","text":"t","tags":{"z":"1","a":"2"}}`
	got, err := decode(t, good)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]shape.Tag{{Name: "z", Value: "1"}, {Name: "a", Value: "2"}}, got.Tags); diff != "" {
		t.Error(diff)
	}
	_, err = decode(t, strings.Replace(good, `"2"`, `"not a word"`, 1))
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Fields) != 1 || f.Fields["tags.a"] == "" {
		t.Errorf("error %v, want one for tags.a", err)
	}
}

func TestBase64Forms(t *testing.T) {
	t.Parallel()
	data := []byte{0xfb, 0xff, 0xfe, 0x00}
	standard, url := base64.StdEncoding.EncodeToString(data), base64.URLEncoding.EncodeToString(data)
	for _, good := range []string{standard, url, strings.TrimRight(standard, "="), strings.TrimRight(url, "="),
		standard[:3] + `\r\n` + standard[3:], " " + standard[:2] + `\t` + standard[2:] + `\n`, strings.ReplaceAll(standard, "/", `\/`), `\u002b` + standard[1:]} {
		d := newDecoder()
		got := d.base64("data", parsed(t, `"`+good+`"`))
		if !bytes.Equal(got, data) || len(d.wrong) > 0 {
			t.Errorf("%q: %x %v", good, got, d.wrong)
		}
	}
	for _, bad := range []string{"!", "A", "QUJD=====", "QU=JD", "Q Q Q Q Q", "QUJDé", "data:;base64,QUJD"} {
		d := newDecoder()
		if got := d.base64("data", parsed(t, `"`+bad+`"`)); d.wrong["data"] != "is not valid base64" {
			t.Errorf("%q: %x %v", bad, got, d.wrong)
		}
	}
}

func parsed(t *testing.T, text string) value {
	t.Helper()
	v, err := parseJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// However much is wrong, the answer stays small.
func TestReasonsAreBounded(t *testing.T) {
	t.Parallel()
	unknown := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%s%d":1,`, strings.Repeat("x", 200), i)
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	for name, body := range map[string]string{
		"unknown fields": unknown(5000),
		"recipients":     `{"to":[` + strings.TrimSuffix(strings.Repeat("1,", 5000), ",") + `]}`,
		"headers":        `{"headers":` + unknown(5000) + `}`,
		"attachments":    `{"attachments":[` + strings.TrimSuffix(strings.Repeat(`{"a":1,"b":2},`, 5000), ",") + `]}`,
	} {
		_, err := decode(t, body)
		var f *fault.Error
		if !errors.As(err, &f) || len(f.Fields) == 0 || len(f.Fields) > 2*maxReasons {
			t.Errorf("%s: %d reasons", name, len(f.Fields))
		}
	}
	if _, err := decode(t, `{"to":[`+strings.TrimSuffix(strings.Repeat("1,", maxValues), ",")+`]}`); err == nil || !strings.Contains(err.Error(), "more than 200000 values") {
		t.Errorf("too many values: %v", err)
	}
}

func TestHalfASurrogatePairIsRefused(t *testing.T) {
	t.Parallel()
	for body, ok := range map[string]bool{
		`"\ud83d\udcee"`: true, `"\u00e9"`: true, `"\uFFFD"`: true,
		`"\ud83d"`: false, `"\ud83dx"`: false, `"\udcee"`: false, `"\ud83d\u0041"`: false, `"\ud83d\ud83d"`: false, `"\udcee\ud83d"`: false,
	} {
		if _, err := parseJSON([]byte(body)); (err == nil) != ok {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0.5e+3,"x\u00e9\\\"",true,false,null,{}]}`, ` [ ] `, `"\ud800"`, `01`, `{"a":1,}`, "\"\x00\"", `nul`, `1 2`, `"\`, strings.Repeat("[", 70)} {
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
			t.Fatalf("%q: %s", data, diff)
		}
	})
}

// tree builds what encoding/json builds.
func tree(v value) any {
	switch v.kind() {
	case kindNull:
		return nil
	case kindBoolean:
		return v.isTrue()
	case kindString:
		return v.text()
	case kindArray:
		out := []any{}
		for _, item := range v.items() {
			out = append(out, tree(item))
		}
		return out
	case kindObject:
		out := map[string]any{}
		for name, member := range v.members() {
			out[name] = tree(member)
		}
		return out
	default:
		return json.Number(v.raw)
	}
}

func FuzzDecodeMessage(f *testing.F) {
	f.Add([]byte(`{"from":"Ada <ada@example.com>","to":["bob@example.net",{"email":"c@d.e","name":"C"}],"subject":"Hi","htmlBody":"<p>","replyTo":"a@b.c",
 "tags":{"k":"v"},"headers":{"X-A":"1"},"attachments":[{"filename":"a.txt","content":"QU JD-_==","contentId":"x"}],"unsubscribe":false,"scheduled_at":null}`))
	f.Add([]byte(`{"tags":[{"name":"k","value":"v"}],"template":{"id":"x"},"to":null,"cc":{"email":1},"attachments":[[],{}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		root, err := parseObject(slices.Clone(body))
		if err == nil {
			_, err = decodeMessage(root)
		}
		if err != nil && fault.KindOf(err) != fault.Invalid {
			t.Fatalf("%q: %v is no refusal of the request", body, err)
		}
	})
}
