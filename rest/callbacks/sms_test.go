package callbacks

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/sms/callback"
	"github.com/postrider/postrider/runtime/base/fault"
)

// fakeMessages accepts the token "good".
type fakeMessages struct {
	receipts, replies []callback.ProviderRequest
	fail              error
}

func (f *fakeMessages) take(into *[]callback.ProviderRequest, t callback.ProviderRequest) error {
	if t.Token != "good" {
		return &fault.Error{Kind: fault.NotFound, Message: "Not found"}
	}
	*into = append(*into, t)
	return f.fail
}

func (f *fakeMessages) Receipt(_ context.Context, t callback.ProviderRequest) error {
	return f.take(&f.receipts, t)
}
func (f *fakeMessages) Reply(_ context.Context, t callback.ProviderRequest) error {
	return f.take(&f.replies, t)
}

func ask(t *testing.T, f *fakeMessages, method, path, contentType, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://mail.example.com"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("X-Twilio-Signature", "signed")
	w := httptest.NewRecorder()
	NewSMS(SMSOptions{Messages: f, Logger: slog.New(slog.DiscardHandler)}).ServeHTTP(w, r)
	return w
}

const form = "application/x-www-form-urlencoded"

func TestWhatProvidersTell(t *testing.T) {
	t.Parallel()
	f := &fakeMessages{}
	for _, c := range []struct {
		method, path, contentType, body string
		want                            int
	}{
		{"POST", "/s/r/good?x=1", form, "MessageStatus=sent&MessageSid=SM1", 204},
		{"POST", "/s/r/good", "application/json", `{"status": "delivered", "code": 5}`, 204},
		{"POST", "/s/i/good", form, "From=%2B4915112345678&Body=STOP", 200},
		{"POST", "/s/r/bad", form, "a=b", 404},
		{"POST", "/s/i/", form, "a=b", 404},
		{"POST", "/s/x/good", form, "a=b", 404},
		{"POST", "/s/", form, "a=b", 404},
		{"POST", "/s/r/../r/good", form, "a=b", 404},
		{"GET", "/s/r/good", "", "", 405},
		{"DELETE", "/s/i/good", "", "", 405},
		{"POST", "/s/r/good", "application/json", `[1]`, 400},
		{"POST", "/s/r/good", "application/json", `{`, 400},
		{"POST", "/s/r/good", form, "%zz", 400},
		{"POST", "/s/r/good", form, strings.Repeat("a", 65<<10), 413},
	} {
		if got := ask(t, f, c.method, c.path, c.contentType, c.body); got.Code != c.want {
			t.Errorf("%s %s with %.30q is answered %d, want %d", c.method, c.path, c.body, got.Code, c.want)
		}
	}
	if len(f.receipts) != 2 || f.receipts[0].URI != "/s/r/good?x=1" || f.receipts[0].Signature != "signed" ||
		f.receipts[0].Fields.Get("MessageSid") != "SM1" || f.receipts[1].Fields.Get("code") != "5" {
		t.Errorf("the module received %+v, want the two receipts with path, query and signature", f.receipts)
	}
	if len(f.replies) != 1 || f.replies[0].Fields.Get("From") != "+4915112345678" {
		t.Errorf("the module received the replies %+v, want one", f.replies)
	}
	if got := ask(t, f, "POST", "/s/i/good", form, "Body=x"); !strings.Contains(got.Body.String(), "<Response/>") ||
		got.Header().Get("Content-Type") != "text/xml" {
		t.Errorf("a reply is answered %q, want the empty TwiML document", got.Body.String())
	}
}

func TestProvidersRepeatWhatCouldNotBeStored(t *testing.T) {
	t.Parallel()
	f := &fakeMessages{fail: fault.DatabaseUnavailable(errors.New("away"))}
	got := ask(t, f, "POST", "/s/r/good", form, "a=b")
	if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
		t.Errorf("with the database away a receipt is answered %d, want 503 with Retry-After", got.Code)
	}
	f.fail = errors.New("secret detail")
	if got := ask(t, f, "POST", "/s/r/good", form, "a=b"); got.Code != http.StatusInternalServerError ||
		strings.Contains(got.Body.String(), "detail") {
		t.Errorf("a defect is answered %d %q, want 500 without the detail", got.Code, got.Body.String())
	}
}
