package provider

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sms/smstest"
	"github.com/postrider/postrider/runtime/base/secret"
)

var hello = Message{ID: "sms_1", To: "+4915112345678", From: "Shop", Text: `He said "x"}, \ <b> & {{to}} ü`,
	Encoding: "ucs2", Segments: 1, ReceiptURL: "https://mail.example.com/s/r/x"}

func TestEncodesGatewayBodies(t *testing.T) {
	t.Parallel()
	fill := func(contentType, text string) string {
		t.Helper()
		b, err := NewBody(contentType, text)
		if err != nil {
			t.Fatalf("the body %q was rejected: %v", text, err)
		}
		filled, err := b.Fill(t.Context(), hello)
		if err != nil {
			t.Fatalf("render body %q: %v", text, err)
		}
		return filled
	}
	var object struct {
		Messages []struct{ To, Text string }
		Segments float64
		Standing string
	}
	if err := json.Unmarshal([]byte(fill("",
		`{"messages": [{"to": "{{to}}", "text": "{{text}}"}], "segments": 1.50, "standing": "{{from | upcase}}"}`)),
		&object); err != nil ||
		object.Messages[0].Text != hello.Text || object.Messages[0].To != hello.To || object.Standing != "SHOP" ||
		object.Segments != 1.5 {
		t.Errorf("JSON body is %+v, %v; want the text unchanged", object, err)
	}
	values, err := url.ParseQuery(fill("application/x-www-form-urlencoded; charset=utf-8",
		"user=me&to={{to}}&msg={{text}}"))
	if err != nil || values.Get("msg") != hello.Text || values.Get("to") != hello.To || values.Get("user") != "me" ||
		len(values) != 3 {
		t.Errorf("form is %v, %v; want the text unchanged", values, err)
	}
	var element struct {
		Text string `xml:"text"`
		To   string `xml:"to,attr"`
	}
	if err := xml.Unmarshal([]byte(fill("text/xml", `<sms to="{{to}}"><text>{{text}}</text></sms>`)),
		&element); err != nil || element.Text != hello.Text || element.To != hello.To {
		t.Errorf("XML body is %+v, %v; want the text unchanged", element, err)
	}
	if got := fill("text/plain", "{{id}} {{segments}} {{text}}"); got != "sms_1 1 "+hello.Text {
		t.Errorf("the text body is %q", got)
	}
	for text, contentType := range map[string]string{"{": "", `{"a": "{{secret}}"}`: "",
		`{"a": "{% for x in y %}"}`: "", "a": Form, "=x": Form, "<a>{{nobody}}</a>": XML, "x": "image/png", "y": ";;",
		`"` + strings.Repeat("x", maxBody) + `"`: "", `{} {}`: ""} {
		if _, err := NewBody(contentType, text); err == nil {
			t.Errorf("body %.40q of type %q was accepted, want an error", text, contentType)
		}
	}
}

// A body with several mistakes always gets the same error.
func TestErrorsOfBodiesDoNotDependOnMapOrder(t *testing.T) {
	t.Parallel()
	got := map[string]bool{}
	for range 30 {
		_, err := NewBody("", `{"b": "{{secret}}", "a": "{% for x in y %}"}`)
		if err == nil {
			t.Fatal("a body with two mistakes was accepted")
		}
		got[err.Error()] = true
	}
	if len(got) > 1 {
		t.Errorf("the same body returned the errors %v, want always the same one", got)
	}
}

func TestGatewayResponses(t *testing.T) {
	t.Parallel()
	const silent = "no answer" // until the request times out
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		want   SendResult
	}{
		"200": {func(w http.ResponseWriter, _ *http.Request) {
			_,
				_ = w.Write([]byte(`{"id": "a\u0000b"}`))
		}, SendResult{Outcome: Sent, Status: 200, ProviderID: "a\uFFFDb"}},
		"202 with invalid JSON": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(202)
			_,
				_ = w.Write([]byte(`{`))
		}, SendResult{Outcome: Sent, Status: 202}},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere",
				http.StatusFound)
		}, SendResult{Outcome: Failed, Status: 302, Code: CodeRefused}},
		"400": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400) }, SendResult{Outcome: Failed, Status: 400, Code: CodeRefused}},
		"429": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().
				Set("Retry-After", "90")
			w.WriteHeader(429)
		}, SendResult{Outcome: Temporary, Status: 429, Code: CodeBusy, Wait: 90 * time.Second}},
		"a long Retry-After": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "99999999")
			w.WriteHeader(503)
		}, SendResult{Outcome: Temporary, Status: 503, Code: CodeBusy, Wait: time.Hour}},
		"a negative Retry-After": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().
				Set("Retry-After", "-5")
			w.WriteHeader(503)
		}, SendResult{Outcome: Temporary, Status: 503, Code: CodeBusy}},
		"connection closed": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, SendResult{Outcome: Unknown, Code: CodeNoAnswer}},
		silent: {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // the server notices a disconnect only while it reads
			<-r.Context().Done()
		}, SendResult{Outcome: Unknown, Code: CodeNoAnswer}},
		"half a response": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"id": "x"`))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, SendResult{Outcome: Sent, Status: 200}},
	} {
		asked := 0
		ctx, cancel := context.WithCancel(t.Context())
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked++; name == silent {
				cancel()
			}
			c.handle(w, r)
		}))
		client := &http.Client{CheckRedirect: func(*http.Request,
			[]*http.Request) error {
			return http.ErrUseLastResponse
		}}
		g, err := NewGateway(GatewayConfig{URL: server.URL, IDPath: "id",
			Headers: []shape.Header{{Name: "X-Key", Value: "s3cret"}}}, client)
		if err != nil {
			t.Fatal(err)
		}
		got := g.Submit(ctx, hello)
		cancel()
		server.CloseClientConnections()
		server.Close()
		if got.Outcome != c.want.Outcome || got.Status != c.want.Status || got.Code != c.want.Code ||
			got.Wait != c.want.Wait || got.ProviderID != c.want.ProviderID || asked != 1 {
			t.Errorf("%s: response is %+v after %d requests, want %+v after one", name, got, asked, c.want)
		}
		if (got.Reason == "") != (got.Outcome == Sent) || strings.Contains(got.Reason, "127.0.0.1") {
			t.Errorf("%s: reason is %q, want it to contain no address", name, got.Reason)
		}
	}
}

func TestFailureBeforeConnectionIsTemporary(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	g, err := NewGateway(GatewayConfig{URL: server.URL}, &http.Client{})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Submit(t.Context(), hello); got.Outcome != Temporary || got.Code != CodeUnreachable {
		t.Errorf("refused connection: %+v, want temporary", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := g.Submit(ctx, hello); got.Outcome != Temporary {
		t.Errorf("request that never started: %+v, want temporary", got)
	}
}

func TestTwilioServices(t *testing.T) {
	t.Parallel()
	double := smstest.NewTwilio(t)
	p := &Twilio{BaseURL: double.URL + "/", AccountSID: smstest.SID, AuthToken: secret.New(smstest.Token),
		From: "MG0123456789abcdef0123456789abcdef", Client: http.DefaultClient}
	if a := p.Submit(t.Context(), Message{To: "+15005550006", Text: "x"}); a.Outcome != Sent ||
		double.Messages()[0].Service == "" || double.Messages()[0].From != "" {
		t.Errorf("response is %+v and Twilio received %+v, want the messaging service instead of a sender", a,
			double.Messages())
	}
	p.AuthToken = secret.New("another")
	if a := p.Submit(t.Context(), hello); a.Outcome != Failed || a.Code != "20003" || a.Status != 401 {
		t.Errorf("response with a wrong token is %+v, want Twilio's error", a)
	}
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	form := url.Values{"To": {"+1"}, "From": {"+2"}, "Body": {"a&b=c"}}
	token := secret.New(smstest.Token)
	signature := smstest.Signature("https://mail.example.com/s/r/x?y=1", form)
	if !VerifySignature(token, "https://mail.example.com/s/r/x?y=1", form, signature) {
		t.Error("a genuine signature was rejected")
	}
	// The example in Twilio's documentation about signatures.
	example := url.Values{"CallSid": {"CA1234567890ABCDE"}, "Caller": {"+14158675309"}, "Digits": {"1234"},
		"From": {"+14158675309"}, "To": {"+18005551212"}}
	if got := Sign(secret.New("12345"), "https://mycompany.com/myapp.php?foo=1&bar=2",
		example); got != "RSOYDt4T1cUTdK1PDd93/VVr8B8=" {
		t.Errorf("the signature of the published example is %s", got)
	}
	for name, ok := range map[string]bool{"another URL": VerifySignature(token, "https://mail.example.com/s/r/z", form,
		signature), "another token": VerifySignature(secret.New("x"), "https://mail.example.com/s/r/x?y=1", form,
		signature),
		"no token": VerifySignature(secret.String{}, "https://mail.example.com/s/r/x?y=1", form,
			Sign(secret.String{}, "https://mail.example.com/s/r/x?y=1", form)),
		"none": VerifySignature(token, "https://mail.example.com/s/r/x?y=1", form, "")} {
		if ok {
			t.Errorf("a signature with %s was accepted", name)
		}
	}
}

func FuzzReceipt(f *testing.F) {
	f.Add("application/json", []byte(`{"status": "delivered", "id": 5, "error": "x\u0000"}`))
	f.Add("application/x-www-form-urlencoded", []byte("MessageStatus=undelivered&ErrorCode=21610&MessageSid=SM1"))
	f.Add("application/json; charset=\xff", []byte(`[`))
	f.Add("", []byte("%zz&Body=stop"))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		fields, err := Fields(contentType, body)
		if err != nil {
			return
		}
		for _, r := range []DeliveryReport{ReadReceipt(fields), ReadTwilioReceipt(fields)} {
			for _, text := range []string{r.ProviderID, r.Code, r.Reason} {
				if len(text) > 300 || strings.ContainsRune(text, 0) || strings.ToValidUTF8(text, "") != text {
					t.Errorf("receipt %+v contains text that the database rejects", r)
				}
			}
			if r.Outcome != "" && r.Outcome != Sent && r.Outcome != Delivered && r.Outcome != Failed ||
				(r.Outcome == Failed) != (r.Reason != "") {
				t.Errorf("the receipt is %+v", r)
			}
		}
		_ = ReadReply(fields).Command()
		_ = ReadTwilioReply(fields).Command()
	})
}
