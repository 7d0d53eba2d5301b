package devinbox

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	inbox "github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/runtime/base/fault"
)

// problemOf reads an error response.
func problemOf(t *testing.T, body string) (code string, details map[string]string) {
	t.Helper()
	var answer struct {
		Error struct {
			Message, Code string
			Details       map[string]string
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Error.Message == "" {
		t.Fatalf("an error was answered with\n%s\nwant a problem (%v)", body, err)
	}
	return answer.Error.Code, answer.Error.Details
}

func TestLatestForTests(t *testing.T) {
	t.Parallel()
	f := newInbox(1)
	response, body := get(t, pagesOver(f), "/dev/inbox/latest?to=bob%2B1@example.net&subject=Your+code&wait=10s")
	var got struct {
		Mail struct {
			ID      int64
			HTML    string
			Headers []struct{ Name, Value string }
			RcptTo  []string `json:"rcpt_to"`
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "application/json" ||
		got.Mail.ID != 1 ||
		!strings.Contains(got.Mail.HTML, "cid:logo") || len(got.Mail.Headers) < 5 || len(got.Mail.RcptTo) != 2 {
		t.Errorf("the latest mail was answered with %d, %v and\n%s\nwant the whole mail", response.StatusCode,
			response.Header, body)
	}
	want := []inbox.LatestQuery{{To: "bob+1@example.net", Subject: "Your code", Wait: 10 * time.Second}}
	if diff := cmp.Diff(want, f.wanted); diff != "" {
		t.Errorf("the module was asked for (-want +got):\n%s", diff)
	}
}

// In a query, a plus sign means a space, but users write plus signs in addresses literally.
func TestLatestForAPlusThatIsNotEscaped(t *testing.T) {
	t.Parallel()
	f := newInbox(1)
	if response, body := get(t, pagesOver(f),
		"/dev/inbox/latest?to=bob+1@example.net"); response.StatusCode != http.StatusOK ||
		f.wanted[0].To != "bob+1@example.net" {
		t.Errorf("asking for bob+1@example.net got %d, asked the module for %+v:\n%s", response.StatusCode,
			f.wanted, body)
	}
}

func TestLatestNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for query, fields := range map[string][]string{
		"to=bob":                           {"to"},
		"to=%00@example.net":               {"to"},
		"to=Bob+%3Cbob@example.net%3E":     {"to"},
		"to=a@example.net,b@example.net":   {"to"},
		"to=bob@example.net&to=b@c.de":     {"to"},
		"wait=10":                          {"wait"},
		"wait=soon":                        {"wait"},
		"wait=-1s":                         {"wait"},
		"wait=61s":                         {"wait"},
		"wait=1000000h":                    {"wait"},
		"subject=%ff":                      {"subject"},
		"subject=%00":                      {"subject"},
		"subject=" + longText:              {"subject"},
		"form=bob@example.net":             {"form"},
		"to=bob&wait=x&limit=1":            {"limit", "to", "wait"},
		"to=bob@example.net&wait=1s&wait=": {"wait"},
		"to=%zz":                           nil,
		"a;b":                              nil,
	} {
		response, body := get(t, pagesOver(newInbox(1)), "/dev/inbox/latest?"+query)
		code, details := problemOf(t, body)
		if response.StatusCode != http.StatusUnprocessableEntity || code != fault.CodeValidation ||
			len(details) != len(fields) {
			t.Errorf("%.60s is answered %d\n%s\nwant 422 that names %q", query, response.StatusCode, body, fields)
		}
		for _, field := range fields {
			if details[field] == "" {
				t.Errorf("%.60s: the answer does not name %s:\n%s", query, field, body)
			}
		}
	}
}

var longText = strings.Repeat("x", 1001)

func TestLatestThatDoesNotCome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{&fault.Error{Kind: fault.NotFound, Code: fault.CodeNotFound, Message: "No mail within 10s"}, http.StatusNotFound, "not_found"},
		{&fault.Error{Kind: fault.Unavailable, Code: fault.CodeUnavailable, Message: "The service is stopping",
			RetryAfter: time.Second}, http.StatusServiceUnavailable, fault.CodeUnavailable},
		{errors.New("pq: secret detail"), http.StatusInternalServerError, "internal_error"},
	} {
		f := newInbox(1)
		f.fail = c.err
		response, body := get(t, pagesOver(f), "/dev/inbox/latest?wait=10s")
		if code, _ := problemOf(t, body); response.StatusCode != c.status || code != c.code ||
			strings.Contains(body, "secret") || response.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v is answered %d with %v and\n%s\nwant %d with %s", c.err, response.StatusCode, response.Header,
				body, c.status, c.code)
		}
	}
}

func TestLatestIsForThisMachineOnly(t *testing.T) {
	t.Parallel()
	f := newInbox(1)
	if response, _ := get(t, pagesOver(f), "/dev/inbox/latest",
		func(r *http.Request) { r.Host = "evil.example" }); response.StatusCode != http.StatusMisdirectedRequest ||
		f.wanted != nil {
		t.Errorf("a stranger's host name got %d and asked for %v, want 421 and nothing", response.StatusCode, f.wanted)
	}
}
