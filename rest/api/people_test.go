package api_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
)

const (
	baseURL      = "http://mail.example.com"
	otherAccount = "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
)

// fakePeople has a session for each role, by its name; a suffix after a dash selects a special case.
type fakePeople struct{}

func (fakePeople) AuthenticateSession(_ context.Context, token, wanted string) (accounts.Caller, error) {
	role, special, _ := strings.Cut(token, "-")
	if !rights.Role(role).IsKnown() && role != "nobody" {
		return accounts.Caller{}, fault.Unauthenticated()
	}
	if wanted == otherAccount {
		return accounts.Caller{}, fault.NoSuch("account", wanted)
	}
	who := &accounts.Person{UserID: "usr_01kf0m4w7he6x8q2v5b3n9c1ta", SessionID: "ses_1", Email: "ada@example.com",
		Role: rights.Role(role), ConfirmedAt: time.Now(), SetUpFirst: special == "factor",
		Operator: special == "operator"}
	if special == "unconfirmed" {
		who.ConfirmedAt = time.Now().Add(-accounts.ConfirmedFor)
	}
	if role == "nobody" {
		who.Role = ""
		return accounts.Caller{Person: who}, nil
	}
	return accounts.Caller{AccountID: accountID, Person: who}, nil
}

// recorder keeps the entries written to the audit log.
type recorder struct {
	mu   sync.Mutex
	list []string
}

func (r *recorder) Record(_ context.Context, c accounts.Caller, operation, target string,
	_ map[string]any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, c.ID()+" "+operation+" "+target)
	return nil
}

func (*recorder) LastBy(_ context.Context, account, operation, target string, since time.Time) (audit.Actor, error) {
	known := operation == "updateAutomation" && target == automationID || operation == "updateTemplate" &&
		target == templateID
	if account != accountID || !known || since.IsZero() {
		return audit.Actor{}, nil
	}
	return audit.Actor{Kind: audit.ByUser, ID: "usr_2", Name: "bob@example.com"}, nil
}

func newPeopleBundle(t *testing.T) (*bundle, *recorder) {
	t.Helper()
	log := &recorder{}
	return newBundle(t, func(o *api.Options) { o.People, o.BaseURL, o.Audit = fakePeople{}, baseURL, log }), log
}

// as returns a request from a user.
func as(who, method, path, body string, more ...string) request {
	q := request{method: method, path: path, body: body, key: "-",
		header: map[string]string{"Cookie": "postrider=" + who, "Origin": baseURL}}
	for i := 0; i < len(more); i += 2 {
		q.header[more[i]] = more[i+1]
	}
	return q
}

// Requests that signed-in users are refused, with the reasons.
func TestPeopleAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	b, log := newPeopleBundle(t)
	const newHook = `{"url":"https://example.com/hooks"}`
	for name, c := range map[string]struct {
		request request
		status  int
	}{
		"person_role":          {as("viewer", "POST", "/api/webhooks", newHook), 403},
		"person_no_team":       {as("nobody", "GET", "/api/webhooks", ""), 403},
		"person_unconfirmed":   {as("owner-unconfirmed", "PATCH", "/api/members/usr_01kf0m4w7he6x8q2v5b3n9c1ta", `{"role":"admin"}`), 403},
		"person_factor":        {as("owner-factor", "GET", "/api/webhooks", ""), 403},
		"person_cross_origin":  {as("owner", "POST", "/api/webhooks", newHook, "Origin", "https://evil.example"), 403},
		"person_other_account": {as("owner", "GET", "/api/webhooks", "", "Postrider-Account", otherAccount), 404},
		"person_empty_account": {as("owner", "GET", "/api/webhooks", "", "Postrider-Account", ""), 400},
		"person_wrong_account": {as("owner", "GET", "/api/webhooks", "", "Postrider-Account", "acc_"+strings.Repeat("x", 8000)), 400},
		"person_key_wins":      {as("owner", "GET", "/api/webhooks", "", "Authorization", "Bearer svc_wrong"), 401},
		"person_unknown":       {as("stranger", "GET", "/api/webhooks", ""), 401},
		"person_two_cookies":   {as("owner; postrider=owner", "GET", "/api/webhooks", ""), 401},
		"person_long_cookie":   {as(strings.Repeat("x", 8192), "GET", "/api/webhooks", ""), 401},
		"person_only_for_them": {request{method: "GET", path: "/api/session"}, 403},
		"person_form":          {as("owner", "POST", "/api/webhooks", newHook, "Content-Type", "text/plain"), 415},
		"person_urlencoded": {as("owner", "POST", "/api/webhooks", "url=https%3A%2F%2Fexample.com%2Fhooks",
			"Content-Type", "application/x-www-form-urlencoded"), 415},
		"person_multipart": {as("owner", "POST", "/api/webhooks",
			"--x\r\nContent-Disposition: form-data; name=\"url\"\r\n\r\nhttps://example.com/hooks\r\n--x--\r\n",
			"Content-Type", "multipart/form-data; boundary=x"), 415},
		"person_form_sign_in": {request{method: "POST", path: "/api/session",
			body: `{"email":"a@example.com","password":"b"}`, key: "-",
			header: map[string]string{"Content-Type": "text/plain"}}, 415},
		"person_bad_member":     {as("owner", "PATCH", "/api/members/acc_1", `{"role":"admin"}`), 404},
		"person_wrong_password": {request{method: "POST", path: "/api/session", body: `{"email":"a@example.com"}`, key: "-"}, 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := b.do(t, c.request)
			if got.status != c.status {
				t.Errorf("status %d, want %d: %s", got.status, c.status, got.body)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
	t.Cleanup(func() {
		if len(log.list) > 0 {
			t.Errorf("refused requests are in the audit log: %q", log.list)
		}
	})
}

// Changes are recorded with their actor, including API keys. Reads are not recorded.
func TestChangesAreInTheAuditLog(t *testing.T) {
	t.Parallel()
	b, log := newPeopleBundle(t)
	b.do(t, as("owner", "GET", "/api/webhooks", ""))
	b.do(t, as("owner", "DELETE", "/api/api-keys/"+keyID, ""))
	b.do(t, request{method: "DELETE", path: "/api/api-keys/" + keyID})
	b.do(t, request{method: "DELETE", path: "/api/api-keys/key_x"})
	b.do(t, as("owner", "POST", "/api/webhooks", `{"url":"https://example.com/hooks"}`))
	want := []string{"usr_01kf0m4w7he6x8q2v5b3n9c1ta revokeAPIKey " + keyID, "key_1 revokeAPIKey " + keyID,
		"usr_01kf0m4w7he6x8q2v5b3n9c1ta createWebhook wh_01kf0m4w7he6x8q2v5b3n9c1ta"}
	if !slices.Equal(log.list, want) {
		t.Errorf("the audit log has %q, want %q", log.list, want)
	}
}

// operation is an operation in the document.
type operation struct {
	method, path, id string
	roles, scopes    []string
	public           bool
	operators        bool // for operators of the installation, whatever their role
}

// operations reads the required rights of each operation from the document.
func operations(t *testing.T, b *bundle) (list []operation) {
	t.Helper()
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string
			Description string
			Security    []map[string][]string
		}
	}
	if err := json.Unmarshal([]byte(b.do(t, request{method: "GET", path: "/api/openapi.json", key: "-"}).body),
		&document); err != nil {
		t.Fatal(err)
	}
	named := func(description, kind string) (names []string) {
		for line := range strings.SplitSeq(description, "\n") {
			if words, is := strings.CutPrefix(line, kind+": "); is {
				for word := range strings.SplitSeq(strings.TrimSuffix(words, "."), ", ") {
					names = append(names, strings.Trim(word, "`"))
				}
			}
		}
		return names
	}
	for path, methods := range document.Paths {
		for method, op := range methods {
			o := operation{strings.ToUpper(method), "/api" + strings.NewReplacer("{id}", "x").Replace(path),
				op.OperationID, named(op.Description, "Roles"), named(op.Description, "Scopes"),
				op.Security != nil && len(op.Security) == 0,
				strings.Contains(op.Description, "\n\nRequires an operator of the installation.")}
			if !o.public && (len(o.roles) == 0) != o.operators {
				t.Errorf("%s says of no role that it may ask", o.id)
			}
			list = append(list, o)
		}
	}
	return list
}

// Each operation permits exactly the roles and scopes that the document names. An unknown query parameter is
// rejected after the permission check, so its error shows that the permissions were sufficient.
func TestOperationsAreForTheRolesThatTheDocumentNames(t *testing.T) {
	t.Parallel()
	b, _ := newPeopleBundle(t)
	list := operations(t, b)
	if len(list) < 100 {
		t.Fatalf("the document has %d operations, want all", len(list))
	}
	for _, op := range list {
		if op.public {
			continue
		}
		for _, role := range rights.Roles() {
			judge(t, op, "the role "+string(role), slices.Contains(op.roles, string(role)), "insufficient_role",
				b.do(t, as(string(role), op.method, op.path+"?zzz=1", "")))
		}
		for _, scope := range rights.Scopes() {
			judge(t, op, "the scope "+string(scope), slices.Contains(op.scopes, string(scope)), "insufficient_scope",
				b.do(t, request{method: op.method, path: op.path + "?zzz=1", key: string(scope)}))
		}
		judge(t, op, "an operator who is a viewer", op.operators || slices.Contains(op.roles, "viewer"),
			"insufficient_role", b.do(t, as("viewer-operator", op.method, op.path+"?zzz=1", "")))
		judge(t, op, "nobody", false, "", b.do(t, request{method: op.method, path: op.path + "?zzz=1", key: "-"}))
		if got := b.do(t, as("owner", op.method, op.path, "", "Postrider-Account",
			otherAccount)); got.status != http.StatusNotFound {
			t.Errorf("%s for an account of others got %d %s, want 404", op.id, got.status, got.body)
		}
	}
}

func judge(t *testing.T, op operation, who string, may bool, code string, got answer) {
	t.Helper()
	switch {
	case may && (got.status != http.StatusBadRequest || !strings.Contains(got.body, "zzz")):
		t.Errorf("%s by %s got %d %s, want it allowed", op.id, who, got.status, got.body)
	case !may && code != "" && (got.status != http.StatusForbidden || !strings.Contains(got.body, code)):
		t.Errorf("%s by %s got %d %s, want 403 %s", op.id, who, got.status, got.body, code)
	case !may && code == "" && got.status != http.StatusUnauthorized:
		t.Errorf("%s by %s got %d %s, want 401", op.id, who, got.status, got.body)
	}
}

// A page of another site cannot change anything with a cookie, whichever header fields its browser sends or omits.
func TestCookiesCountOnPagesOfTheInstallationOnly(t *testing.T) {
	t.Parallel()
	b, _ := newPeopleBundle(t)
	foreign := []map[string]string{
		{}, {"Origin": "null"}, {"Origin": ""}, {"Origin": "https://mail.example.com"}, {"Origin": baseURL + ":8080"}, {"Origin": baseURL + ".evil.example"},
		{"Origin": "http://evil.example"}, {"Origin": "http://evilmail.example.com"}, {"Sec-Fetch-Site": "cross-site"},
		{"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "none"},
		{"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"},
	}
	own := []map[string]string{{"Origin": baseURL}, {"Sec-Fetch-Site": "same-origin"},
		{"Origin": baseURL, "Sec-Fetch-Site": "same-origin"}}
	for _, op := range operations(t, b) {
		if op.public || op.method == http.MethodGet {
			continue
		}
		for i, header := range append(slices.Clone(foreign), own...) {
			q := as("owner", op.method, op.path+"?zzz=1", "")
			delete(q.header, "Origin")
			maps.Copy(q.header, header)
			got := b.do(t, q)
			if refused := strings.Contains(got.body, "cross_origin"); refused != (i < len(foreign)) {
				t.Errorf("%s with %v got %d %s, want it refused as cross_origin: %t", op.id, header, got.status,
					got.body, i < len(foreign))
			}
		}
	}
}
