package emails

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/runtime/base/fault"
)

func decode(t *testing.T, text string) (sending.Message, error) {
	t.Helper()
	root, err := body.ParseObject([]byte(text))
	if err != nil {
		return sending.Message{}, err
	}
	return body.Decode(root, sendBody)
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
			sending.Message{From: sending.Mailbox{Email: "a@b.c", Name: "A"}, To: []sending.Mailbox{{Email: "d@e.f"}},
				CC: []sending.Mailbox{{Text: "x@y.z"}, {Email: "q@r.s"}}}},
		"strings": {`{"from":"A <a@b.c>","to":"d@e.f","bcc":"g@h.i"}`,
			sending.Message{From: sending.Mailbox{Text: "A <a@b.c>"}, To: mailbox("d@e.f"), BCC: mailbox("g@h.i")}},
		"htmlBody":    {`{"htmlBody":"<p>"}`, sending.Message{HTML: "<p>"}},
		"html_body":   {`{"html_body":"<p>"}`, sending.Message{HTML: "<p>"}},
		"blank text":  {`{"html":"<p>","text":" \n"}`, sending.Message{HTML: "<p>"}},
		"empty text":  {`{"html":"<p>","text":""}`, sending.Message{HTML: "<p>", NoText: true}},
		"textBody":    {`{"textBody":"t"}`, sending.Message{Text: "t"}},
		"text_body":   {`{"text_body":"t"}`, sending.Message{Text: "t"}},
		"plain_body":  {`{"plain_body":"t"}`, sending.Message{Text: "t"}},
		"replyTo":     {`{"replyTo":["a@b.c"]}`, sending.Message{ReplyTo: mailbox("a@b.c")}},
		"escapes":     {`{"subject":"gr\u00fc\u00dfe \ud83d\ude00 \"x\" \/"}`, sending.Message{Subject: `grüße 😀 "x" /`}},
		"null":        {`{"subject":"s","html":null,"htmlBody":"x","scheduled_at":null,"template":null,"unsubscribe":null}`, sending.Message{Subject: "s", HTML: "x"}},
		"unsubscribe": {`{"subject":"s","unsubscribe":false}`, sending.Message{Subject: "s", Unsubscribe: new(bool)}},
		"scheduledAt": {`{"scheduledAt":"2026-11-21T10:00:00.250+01:00"}`, sending.Message{ScheduledAt: &nine}},
		"category":    {`{"category":"Product news"}`, sending.Message{Category: "Product news"}},
		"template":    {`{"template":{"alias":"receipt","variables":{"n":1,"f":2.50,"b":true,"x":null,"l":[{"a":"b"}],"o":{"p.q":"r"}}}}`, sending.Message{Template: &sending.TemplateRef{Alias: "receipt", Variables: map[string]any{"n": json.Number("1"), "f": json.Number("2.50"), "b": true, "x": nil, "l": []any{map[string]any{"a": "b"}}, "o": map[string]any{"p.q": "r"}}}}},
		"template id": {`{"template":{"id":"tpl_1","alias":null,"variables":null}}`, sending.Message{Template: &sending.TemplateRef{ID: "tpl_1"}}},
		"tags array":  {`{"tags":[{"name":"k","value":"v"}]}`, sending.Message{Tags: []shape.Tag{{Name: "k", Value: "v"}}}},
		"headers": {`{"headers":{"X-B":"2","X-A":"1","X-C":null}}`,
			sending.Message{Headers: []shape.Header{{Name: "X-B", Value: "2"}, {Name: "X-A", Value: "1"}}}},
		"attachment": {`{"attachments":[{"name":"a","content_type":"b/c","data":"QUJD","content_id":"d"}]}`,
			sending.Message{Attachments: []sending.Attachment{{Name: "a", ContentType: "b/c", Data: []byte("ABC"),
				ContentID: "d"}}}},
		"other names": {`{"attachments":[{"filename":"a","contentType":"b/c","content":"QUJD","contentId":"d"}]}`,
			sending.Message{Attachments: []sending.Attachment{{Name: "a", ContentType: "b/c", Data: []byte("ABC"), ContentID: "d"}}}},
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

// If tags are an object, errors of package sending use the names that the caller sent.
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

// However many errors a request has, the response stays small.
func TestReasonsAreBounded(t *testing.T) {
	t.Parallel()
	unknown := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%s%d":1,`, strings.Repeat("x", 200), i)
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	for name, given := range map[string]string{
		"unknown fields": unknown(5000),
		"recipients":     `{"to":[` + strings.TrimSuffix(strings.Repeat("1,", 5000), ",") + `]}`,
		"headers":        `{"headers":` + unknown(5000) + `}`,
		"attachments":    `{"attachments":[` + strings.TrimSuffix(strings.Repeat(`{"a":1,"b":2},`, 5000), ",") + `]}`,
	} {
		_, err := decode(t, given)
		var f *fault.Error
		if !errors.As(err, &f) || len(f.Fields) == 0 || len(f.Fields) > 200 {
			t.Errorf("%s: %d reasons", name, len(f.Fields))
		}
	}
	if _, err := decode(t, `{"to":[`+strings.TrimSuffix(strings.Repeat("1,", 200_000), ",")+`]}`); err == nil ||
		!strings.Contains(err.Error(), "more than 200000 values") {
		t.Errorf("too many values: %v", err)
	}
}

func FuzzDecodeMessage(f *testing.F) {
	f.Add([]byte(`{"from":"Ada <ada@example.com>","to":["bob@example.net",{"email":"c@d.e","name":"C"}],"subject":"Hi","htmlBody":"<p>","replyTo":"a@b.c",
 "tags":{"k":"v"},"headers":{"X-A":"1"},"attachments":[{"filename":"a.txt","content":"QU JD-_==","contentId":"x"}],"unsubscribe":false,"scheduled_at":null}`))
	f.Add([]byte(`{"tags":[{"name":"k","value":"v"}],"template":{"id":"x"},"to":null,"cc":{"email":1},"attachments":[[],{}]}`))
	f.Fuzz(func(t *testing.T, given []byte) {
		root, err := body.ParseObject(slices.Clone(given))
		if err == nil {
			_, err = body.Decode(root, sendBody)
		}
		if err != nil && fault.KindOf(err) != fault.Invalid {
			t.Fatalf("%q: %v is not an error of the request", given, err)
		}
	})
}
