package apilog

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRedactsSecretsInBodies(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 300)
	for name, c := range map[string]struct {
		in, want    string
		cut, answer bool
	}{
		"nothing secret":      {in: ` { "a" : [1, -2.5e3, true , null], "b": {} , "c":[] } `, want: `{"a":[1,-2.5e3,true,null],"b":{},"c":[]}`},
		"secret names":        {in: `{"password":"x","apiKey":"x","API-KEY":"x","auth_token":"x","clientSecret":"x","Set-Cookie":"x","authorization":"x","totp":123456,"private_key":"x","code":"123456","keys":["x","y"]}`, want: `{"password":"[redacted]","apiKey":"[redacted]","API-KEY":"[redacted]","auth_token":"[redacted]","clientSecret":"[redacted]","Set-Cookie":"[redacted]","authorization":"[redacted]","totp":"[redacted]","private_key":"[redacted]","code":"[redacted]","keys":["[redacted]","[redacted]"]}`},
		"name in escapes":     {in: `{"pass\u0077ord":"x"}`, want: `{"password":"[redacted]"}`},
		"secret as a whole":   {in: `{"credentials":{"a":"x","b":[{"c":"x"}]},"z":1}`, want: `{"credentials":"[redacted]","z":1}`},
		"objects called keys": {in: `{"api_keys":[{"id":"key_1","secret":"x"}]}`, want: `{"api_keys":[{"id":"key_1","secret":"[redacted]"}]}`},
		"absent secrets":      {in: `{"password":null,"has_secret":true}`, want: `{"password":null,"has_secret":true}`},
		"attachments":         {in: `{"attachments":[{"name":"a.txt","content":"QUJD","content_type":"text/plain"},{"filename":"b","data":"QQ=="}]}`, want: `{"attachments":[{"name":"a.txt","content":"[redacted: 4 characters]","content_type":"text/plain"},{"filename":"b","data":"[redacted: 4 characters]"}]}`},
		"attachment beyond": {in: `{"attachments":[{"content":"QUJDQUJD`, cut: true,
			want: `{"attachments":[{"content":"[redacted: more than 8 characters]"…[cut]`},
		"secret beyond":        {in: `{"a":1,"password":"hunter2hun`, cut: true, want: `{"a":1,"password":…[cut]`},
		"secret number beyond": {in: `{"totp":12345`, cut: true, want: `{"totp":…[cut]`},
		"number beyond":        {in: `{"n":12345`, cut: true, want: `{"n":…[cut]`},
		"mistake":              {in: `{"a":1,b:"secret"}`, want: `{"a":1,…[cut]`},
		"after the end":        {in: `{"a":1} "secret"`, want: `{"a":1}…[cut]`},
		"not JSON":             {in: `password=x`, want: `…[cut]`},
		"open secret":          {in: `{"secret":"x`, want: `{"secret":…[cut]`},
		"control character":    {in: "{\"a\":\"x\ny\"}", want: `{"a":…[cut]`},
		"header fields":        {in: `{"headers":{"X-Any":"x"},"h":{"headers":[{"name":"X-A","value":"x"}]},"header_names":["X-Any"]}`, want: `{"headers":{"X-Any":"[redacted]"},"h":{"headers":[{"name":"X-A","value":"[redacted]"}]},"header_names":["X-Any"]}`},
		"code of an error": {in: `{"error":{"code":"validation_error","details":{"a":"is wrong"}}}`, answer: true,
			want: `{"error":{"code":"validation_error","details":{"a":"is wrong"}}}`},
		"code of a reply": {in: `{"code":550,"enhanced_code":"5.1.1"}`, answer: true, want: `{"code":550,"enhanced_code":"5.1.1"}`},
		"code in an answer": {in: `{"recovery_codes":["abcd-efgh"],"code":"123456","codes":[123456]}`,
			answer: true, want: `{"recovery_codes":"[redacted]","code":"[redacted]","codes":["[redacted]"]}`},
		"key in a text": {in: `{"text":"use svc_0123456789abcdef0123 or Bearer 0123456789abcdefg"}`,
			want: `{"text":"use [redacted] or Bearer [redacted]"}`},
		"key of a cell": {in: `{"text":"use svc_7_0123456789abcdef0123 or svs_1023_0123456789abcdef0123"}`,
			want: `{"text":"use [redacted] or [redacted]"}`},
		"key as a name": {in: `{"svc_0123456789abcdef0123":1}`, want: `{"[redacted]":1}`},
		"link in a text": {in: `{"html":"<a href=\"https://a.example/reset?user=1&reset_token=abc&x=y\">"}`,
			want: `{"html":"<a href=\"https://a.example/reset?user=1&reset_token=[redacted]&x=y\">"}`},
		"password in a URL":                    {in: `{"url":"https://ada:pass@example.com/x"}`, want: `{"url":"https://[redacted]@example.com/x"}`},
		"private key in a text":                {in: `{"pem":"-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----"}`, want: `{"pem":"[redacted]"}`},
		"JSON in a string":                     {in: `{"body":"{\"a\":{\"password\":\"x\"}}"}`, want: `{"body":"{\"a\":{\"password\":\"[redacted]\"}}"}`},
		"almost JSON in a text":                {in: `{"body":"{ \"password\": \"x y\", {{a}} }"}`, want: `{"body":"{ \"password\": \"[redacted]\", {{a}} }"}`},
		"address in escapes":                   {in: `{"to":"bob\u0040example.net"}`, want: `{"to":"bob@example.net"}`},
		"characters that the database rejects": {in: `{"a":"\u0000\ud800"}`, want: `{"a":"\u0000` + "\uFFFD" + `"}`},
		"long string":                          {in: `{"text":"` + long + `"}`, want: `{"text":"` + strings.Repeat("word ", 199) + `word…[501 more]"}`},
	} {
		if got := Redact([]byte(c.in), c.cut, c.answer).Text; got != c.want {
			t.Errorf("%s: redacting %s\ngot  %s\nwant %s", name, c.in, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		answer string
		want   string
	}{
		"made":           {`{"id":"msg_01kf0m4w7he6x8q2v5b3n9c1ta","status":"sent"}`, "msg_01kf0m4w7he6x8q2v5b3n9c1ta"},
		"something else": {`{"id":"tpl_01kf0m4w7he6x8q2v5b3n9c1ta"}`, ""},
		"deeper":         {`{"data":[{"id":"msg_01kf0m4w7he6x8q2v5b3n9c1ta"}]}`, ""},
	} {
		if got := Redact([]byte(c.answer), false, true).EmailID; got != c.want {
			t.Errorf("%s: the email of %s is %q, want %q", name, c.answer, got, c.want)
		}
	}
}

// Bodies are truncated to the maximum, and no address is cut in half.
func TestLongBodiesAreTruncatedBetweenWords(t *testing.T) {
	t.Parallel()
	for shift := range 400 {
		text := strings.Repeat("x", 700+shift) + " <bob.the.builder@example.net>, " + strings.Repeat("y", 3000)
		in, err := json.Marshal(map[string]any{"a": text, "b": text, "c": text, "d": text, "e": text, "f": text})
		if err != nil {
			t.Fatal(err)
		}
		got := Redact(in, false, false).Text
		if len(got) > maxKept || !strings.HasSuffix(got, cutMark) {
			t.Fatalf("got %d bytes that end with %q", len(got), got[len(got)-20:])
		}
		if strings.Contains(strings.ReplaceAll(got, "bob.the.builder@example.net", ""), "bob") {
			t.Fatalf("with a shift of %d, part of the address remains: %s", shift, got)
		}
	}
}

// Everything that the API document marks as secret is redacted: by format, by wording and by examples.
func TestRedactsSecretsOfAPIDocument(t *testing.T) {
	t.Parallel()
	encoded, err := os.ReadFile("../../rest/api/testdata/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(encoded, &document); err != nil {
		t.Fatal(err)
	}
	secretWords := regexp.MustCompile(`(?i)shown (this )?once|keep it secret|never shown`)
	secretValue := regexp.MustCompile(`\b(svc|svs|whsec)_\w{6}`)
	// The operation for password changes logs no body, see TestPeopleLeaveNoBodies in package rest.
	byOperation := map[string]bool{"current": true, "new": true}
	// header_names are shown in place of their values. The prefix of a key is shown with every key.
	notItself := map[string]bool{"header_names": true, "prefix": true}
	found := map[string]bool{}
	var walk func(of any)
	walk = func(of any) {
		switch v := of.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			properties, _ := v["properties"].(map[string]any)
			for name, schema := range properties {
				s, _ := schema.(map[string]any)
				words, _ := s["description"].(string)
				examples, err := json.Marshal(s["examples"])
				if err != nil {
					t.Fatal(err)
				}
				if s["format"] == "password" || s["writeOnly"] == true || secretWords.MatchString(words) ||
					secretValue.Match(examples) {
					found[name] = true
				}
			}
			for name, value := range v {
				if text, is := value.(string); is && secretValue.MatchString(text) && name != "description" &&
					!strings.HasPrefix(name, "x-") {
					found[name] = true
				}
				walk(value)
			}
		}
	}
	walk(document)
	if !found["password"] || !found["secret"] || !found["auth_token"] || !found["reply_url"] {
		t.Fatalf("the document marks only %v as secret, so this test no longer covers secrets", found)
	}
	for name := range found {
		if byOperation[name] || notItself[name] {
			continue
		}
		body, err := json.Marshal(map[string]string{name: "hunter2"})
		if err != nil {
			t.Fatal(err)
		}
		for _, answer := range []bool{false, true} {
			if got := Redact(body, false, answer).Text; strings.Contains(got, "hunter2") {
				t.Errorf("the document marks %s as secret, but it is logged: %s", name, got)
			}
		}
	}
}

// FuzzRedact looks for secrets that are not redacted, and for texts that the database would reject.
func FuzzRedact(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `{"password":"hunter2"}`, `[{"keys":["hunter2"]}]`,
		`{"token":{"a":["hunter2"]}}`, `{"attachments":[{"content":"hunter2"}]}`,
		`{"headers":{"a":"hunter2"}}`, `{"a":"{\"secret\":\"hunter2\"}"}`, `{"x":"\ud83d\ude00 \u0000","code":1}`,
		"\xff", `{"a":"` + strings.Repeat("é", 700) + `"}`} {
		f.Add([]byte(seed), 0)
		f.Add([]byte(seed), len(seed)/2)
	}
	f.Fuzz(func(t *testing.T, given []byte, at int) {
		for _, answer := range []bool{false, true} {
			for _, in := range [][]byte{given, given[:max(0, min(at, len(given)))]} {
				got := Redact(in, len(in) < len(given), answer).Text
				if len(got) > maxKept || !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
					t.Fatalf("%q was redacted to %q", in, got)
				}
				if json.Valid(in) && !strings.HasSuffix(got, cutMark) && !json.Valid([]byte(got)) {
					t.Fatalf("%q is JSON, but %q is not", in, got)
				}
			}
			// The value of a secret appears in no output, wherever the secret is and the body ends.
			const secret = "hunter2-SVQ9"
			name, err := json.Marshal(string(given) + "password")
			if err != nil {
				t.Fatal(err)
			}
			hidden := append(append([]byte(`{"a":[{`), name...), `:["`+secret+`",{"b":"`+secret+`"}]}],"c":1}`...)
			for _, in := range [][]byte{hidden, hidden[:max(0, min(at, len(hidden)))]} {
				if got := Redact(in, len(in) < len(hidden), answer).Text; strings.Contains(got, secret[:7]) &&
					!strings.Contains(string(given), "hunter2") {
					t.Fatalf("%q was redacted to %q", in, got)
				}
			}
		}
	})
}
