package emails

import (
	"testing"

	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

func canonicalSend(t *testing.T, text string, o body.Object) string {
	t.Helper()
	got, err := idempotency.CanonicalBody([]byte(text), o.Form())
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// A retry by another version of a client can be encoded differently, and is still the same request.
func TestSendsThatMeanTheSameAreEqual(t *testing.T) {
	t.Parallel()
	const plain = `{"from":"a@dev.test","to":"b@dev.test","subject":"s","text":"t"}`
	for want, bodies := range map[string][]string{
		plain: {`{"from":"a@dev.test","to":["b@dev.test"],"subject":"s","textBody":"t"}`,
			`{"from":"a@dev.test","to":"b@dev.test","subject":"s","plain_body":"t","html":null,"html_body":null}`,
			`{"from":"a@dev.test","to":"b@dev.test","subject":"s","text_body":"t","cc":[],"bcc":null,"replyTo":[]}`,
			`{"from":"a@dev.test","to":"b@dev.test","subject":"s","text":"t","tags":{},"headers":{},"attachments":[]}`,
			`{"from":"a@dev.test","to":"b@dev.test","subject":"s","text":"t","tags":[],"unsubscribe":false,"template":null}`,
			`{"from":"a@dev.test","to":"b@dev.test","subject":"s","text":"t","scheduledAt":null,"category":null}`},
		`{"htmlBody":"h","replyTo":"c@dev.test","tags":[{"name":"k","value":"v"}],"headers":{"X-Order":"7"}}`: {
			`{"html_body":"h","reply_to":["c@dev.test"],"tags":{"k":"v"},"headers":{"x-order":"7"}}`},
		`{"scheduled_at":"2027-01-05T09:00:00Z","expires_at":"2027-01-05T12:00:00Z"}`: {
			`{"scheduledAt":"2027-01-05T10:00:00.000+01:00","expires_at":"2027-01-05T12:00Z"}`},
		`{"attachments":[{"filename":"a","contentType":"b/c","content":"QUJD","contentId":"d"}]}`: {
			`{"attachments":[{"name":"a","content_type":"b/c","data":"QUJD","content_id":"d"}]}`},
		`{"from":"Ada L. <a@dev.test>","to":["b@dev.test","Bob <B.c@dev.test>"],"cc":"d@bücher.example"}`: {
			`{"from":{"name":"Ada L.","email":"a@dev.test"},"to":[{"email":"b@dev.test"},{"name":"Bob","email":"B.c@DEV.test"}],"cc":{"email":"d@xn--bcher-kva.example","name":""}}`,
			`{"from":"\"Ada L.\" <a@dev.test>","to":["<b@dev.test>"," Bob  <B.c@dev.test> "],"cc":["d@B\u00fccher.example"]}`},
		`{"from":{"email":"a@dev.test"},"template":{"id":"tpl_1","variables":{"n":1}}}`: {
			`{"from":{"email":"a@dev.test","name":null},"template":{"alias":null,"id":"tpl_1","variables":{"n":1.0}}}`},
	} {
		want := canonicalSend(t, want, sendBody(new(sending.Message)))
		for _, text := range bodies {
			if got := canonicalSend(t, text, sendBody(new(sending.Message))); got != want {
				t.Errorf("%s has the canonical form %s, want %s", text, got, want)
			}
			batch := canonicalSend(t, `{"emails":[`+text+`]}`, batchBody(new(batchInput)))
			if batch != `{"emails":[`+want+`]}` {
				t.Errorf("%s in a batch has the canonical form %s, want %s in it", text, batch, want)
			}
		}
	}
	for _, pair := range [][2]string{
		{`{"to":"b@dev.test"}`, `{"to":"B@dev.test"}`}, {`{"to":["b@dev.test","c@dev.test"]}`, `{"to":["c@dev.test","b@dev.test"]}`},
		{`{"from":"Ada <a@dev.test>"}`, `{"from":"ada <a@dev.test>"}`}, {`{"from":"a@dev.test"}`, `{"from":"A <a@dev.test>"}`},
		{`{"from":{"email":"a@dev.test"}}`, `{"from":{"email":"a@dev.test","extra":1}}`}, {`{"to":"nobody"}`, `{"to":["nobody","x"]}`},
	} {
		if got := canonicalSend(t, pair[0], sendBody(new(sending.Message))); got ==
			canonicalSend(t, pair[1], sendBody(new(sending.Message))) {
			t.Errorf("%s and %s have the same canonical form %s", pair[0], pair[1], got)
		}
	}
	blank := canonicalSend(t, `{"html":"h","text":" \n"}`, sendBody(new(sending.Message)))
	if blank != canonicalSend(t, `{"html":"h"}`, sendBody(new(sending.Message))) {
		t.Errorf("a blank text is not equal to an omitted one: %s", blank)
	}
	empty := canonicalSend(t, `{"html":"h","text":""}`, sendBody(new(sending.Message)))
	if empty == canonicalSend(t, `{"html":"h"}`, sendBody(new(sending.Message))) {
		t.Error("an empty text, which asks for no text part, is equal to an omitted one")
	}
}
