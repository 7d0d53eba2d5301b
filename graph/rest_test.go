package graph

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/accounts/rights/rightstest"
)

// fakeREST returns the same response to every request, and records the requests.
type fakeREST struct {
	status int
	answer string
	header http.Header

	mu   sync.Mutex
	seen []string
	last http.Header
	free int // requests that were counted as part of another one
}

func (f *fakeREST) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	f.last = r.Header.Clone()
	if admission.IsCounted(r.Context()) {
		f.free++
	}
	maps.Copy(w.Header(), f.header)
	w.WriteHeader(f.status)
	io.WriteString(w, f.answer)
}

const everySendField = `{from: "Ada <ada@example.com>", to: ["bob@example.net"], cc: ["c@example.net"], bcc: ["d@example.net"],
  replyTo: "e@example.net", subject: "Hi", html: "<p>", text: "", tags: [{name: "k", value: "v"}],
  headers: [{name: "X-A", value: "1"}, {name: "X-B", value: "\"2\""}],
  attachments: [{name: "a.txt", contentType: "text/plain", data: "QQ==", contentId: "a"}],
  scheduledAt: "2026-01-15T09:30:00+01:00", expiresAt: "2026-01-15T10:30:00Z",
  template: {id: "tpl_1", variables: {name: "Bob", n: 1}}, category: "News", unsubscribe: false}`

func TestMutationsAreCarriedOutByTheRESTAPI(t *testing.T) {
	t.Parallel()
	for mutation, c := range map[string]struct{ answer, want, data string }{
		`sendEmail(email: ` + everySendField + `, idempotencyKey: "once") { id status suppressedRecipients replayed email { id } }`: {
			`{"id":"msg_001","status":"failed","suppressed_recipients":["bob@example.net"]}`,
			`POST /api/emails {"from":"Ada \u003cada@example.com\u003e","to":["bob@example.net"],"cc":["c@example.net"],"bcc":["d@example.net"],` +
				`"reply_to":["e@example.net"],"subject":"Hi","html":"\u003cp\u003e","text":"","tags":[{"name":"k","value":"v"}],` +
				`"headers":{"X-A":"1","X-B":"\"2\""},"attachments":[{"name":"a.txt","content_type":"text/plain","data":"QQ==","content_id":"a"}],` +
				`"scheduled_at":"2026-01-15T08:30:00Z","expires_at":"2026-01-15T10:30:00Z",` +
				`"template":{"id":"tpl_1","variables":{"n":1,"name":"Bob"}},"category":"News","unsubscribe":false}`,
			`{"sendEmail":{"id":"msg_001","status":"FAILED","suppressedRecipients":["bob@example.net"],"replayed":false,"email":{"id":"msg_001"}}}`},
		`sendEmail(email: {to: "bob@example.net", template: {alias: "receipt"}}) { id suppressedRecipients email { id } }`: {
			`{"id":"msg_999","status":"sent"}`,
			`POST /api/emails {"to":["bob@example.net"],"template":{"alias":"receipt"}}`,
			`{"sendEmail":{"id":"msg_999","suppressedRecipients":[],"email":null}}`},
		`checkEmail(email: {to: "x"}, resolveLinks: true) { subject suppressedRecipients findings { code severity count places { line element } } }`: {
			`{"check":{"preview":{"subject":"Hi"},"suppressed_recipients":[],"findings":[{"code":"no_language","severity":"info","reason":"r",` +
				`"fix":"f","part":"html","count":1,"places":[{"line":null,"element":"e"}]}]}}`,
			`POST /api/emails/check?resolve_links=true {"to":["x"]}`,
			`{"checkEmail":{"subject":"Hi","suppressedRecipients":[],"findings":[{"code":"no_language","severity":"INFO","count":1,` +
				`"places":[{"line":null,"element":"e"}]}]}}`},
		`cancelEmail(id: "msg_001") { id }`: {`{"email":{}}`, `PATCH /api/emails/msg_001 {"cancel":true}`,
			`{"cancelEmail":{"id":"msg_001"}}`},
		`rescheduleEmail(id: "msg_001", scheduledAt: "2026-01-15T09:30:00Z") { id }`: {`{"email":{}}`,
			`PATCH /api/emails/msg_001 {"scheduled_at":"2026-01-15T09:30:00Z"}`, `{"rescheduleEmail":{"id":"msg_001"}}`},
		`addSuppression(email: "x@example.net", emailId: "msg_001", idempotencyKey: "once") { id }`: {
			`{"suppression":{"id":"sup_001"}}`, `POST /api/suppressions {"email":"x@example.net","email_id":"msg_001"}`,
			`{"addSuppression":{"id":"sup_001"}}`},
		`removeSuppression(id: "a/b?c@example.net") { id }`: {``, `DELETE /api/suppressions/a%2Fb%3Fc@example.net`,
			`{"removeSuppression":{"id":"a/b?c@example.net"}}`},
		`replayWebhookDelivery(id: "whd_001", idempotencyKey: "once") { id }`: {`{"delivery":{}}`,
			`POST /api/webhook-deliveries/whd_001/replay`, `{"replayWebhookDelivery":{"id":"whd_001"}}`},
	} {
		rest := &fakeREST{status: 200, answer: c.answer}
		s := newServer(t, setup{emails: 1, rest: rest})
		if a := s.ask(t, "mutation { "+mutation+" }", nil); a.body != `{"data":`+c.data+`}` {
			t.Errorf("%s got %d %s, want %s", mutation, a.status, a.body, c.data)
		}
		same(t, "the calls of "+mutation, []string{c.want}, rest.seen)
		if rest.last.Get("Authorization") != "Bearer svc_full" || rest.free != 1 {
			t.Errorf("%s was called with the header %v, counted %d times as part of another request, want the key and 1",
				mutation, rest.last, rest.free)
		}
		if want := strings.Contains(mutation, `"once"`); (rest.last.Get("Idempotency-Key") == "once") != want {
			t.Errorf("%s was called with the key %q", mutation, rest.last.Get("Idempotency-Key"))
		}
		if len(s.done.entries) != 0 {
			t.Errorf("%s was audited twice: %v", mutation, s.done.entries)
		}
	}
}

func TestMutationsReportTheProblemsOfTheRESTAPI(t *testing.T) {
	t.Parallel()
	const mutation = `mutation { sendEmail(email: {to: "x"}) { id } }`
	for name, c := range map[string]struct {
		rest *fakeREST
		want string
	}{
		"a wrong field": {&fakeREST{status: 400, answer: `{"error":{"message":"Invalid field: to[0]","code":"validation_error","details":{"to[0]":"must contain @"}}}`},
			`"message":"Invalid field: to[0]","path":["sendEmail"],"locations":[{"line":1,"column":12}],"extensions":{"code":"validation_error","details":{"to[0]":"must contain @"}}`},
		"a conflict": {&fakeREST{status: 409, answer: `{"error":{"message":"Not scheduled","code":"email_not_scheduled","details":{"status":"sent"}}}`},
			`"extensions":{"code":"email_not_scheduled","details":{"status":"sent"}}`},
		"a cap": {&fakeREST{status: 429, header: http.Header{"Retry-After": {"7"}}, answer: `{"error":{"message":"Daily limit","code":"plan_limit","upgrade_url":"https://x"}}`},
			`"extensions":{"code":"plan_limit","retry_after":7,"upgrade_url":"https://x"}`},
		"a defect":     {&fakeREST{status: 500, answer: `{"error":{"message":"pq: secret"}}`}, `"code":"internal_error"`},
		"no database":  {&fakeREST{status: 503, answer: `{"error":{"message":"x","code":"delivery_unavailable"}}`}, `"code":"delivery_unavailable"`},
		"not our JSON": {&fakeREST{status: 400, answer: `404 page`}, `"code":"internal_error"`},
	} {
		s := newServer(t, setup{rest: c.rest})
		a := s.ask(t, mutation, nil)
		if !strings.Contains(a.body, c.want) || strings.Contains(a.body, "secret") {
			t.Errorf("%s got %d %s, want %s", name, a.status, a.body, c.want)
		}
		if len(s.done.entries) != 0 {
			t.Errorf("%s was audited: %v", name, s.done.entries)
		}
	}
}

// Operators manage the installation with the operations of the REST API: null removes a limit, a missing field keeps
// it.
func TestOperatorMutationsAreCarriedOutByTheRESTAPI(t *testing.T) {
	t.Parallel()
	user := `{"id":"usr_2","email":"bob@example.com","operator":false,"memberships":[]}`
	key := `{"id":"opk_1","name":"a","allowed_ips":["192.0.2.0/24"],"expires_at":null,"created_at":"2026-01-15T09:30:00.000Z"}`
	for mutation, c := range map[string]struct{ answer, want, data string }{
		`createAccountAsOperator(account: {name: "A", email: "a@example.com", ownerName: "Ada", plan: "pro", productionUnlocked: true}, idempotencyKey: "once") { account { id } }`: {
			`{"account":{"id":"acc_ada"}}`,
			`POST /api/operator/accounts {"email":"a@example.com","name":"A","owner_name":"Ada","plan":"pro","production_unlocked":true}`,
			`{"createAccountAsOperator":{"account":{"id":"acc_ada"}}}`},
		`updateAccountAsOperator(id: "acc_ada", change: {suspended: false, monthlyLimit: null, storedBytes: 50000000000}) { usage { day } }`: {
			`{"account":{"id":"acc_ada"}}`,
			`PATCH /api/operator/accounts/acc_ada {"monthly_limit":null,"stored_bytes":50000000000,"suspended":false}`,
			`{"updateAccountAsOperator":{"usage":{"day":1}}}`},
		`updatePlanAsOperator(id: "pro", change: {dailyEmails: 7, dailySms: null}) { id dailyEmails }`: {
			`{"plan":{"id":"pro","daily_emails":7}}`, `PATCH /api/operator/plans/pro {"daily_emails":7,"daily_sms":null}`,
			`{"updatePlanAsOperator":{"id":"pro","dailyEmails":7}}`},
		`createUserAsOperator(user: {email: "bob@example.com"}) { id email }`: {`{"user":` + user + `}`,
			`POST /api/operator/users {"email":"bob@example.com"}`,
			`{"createUserAsOperator":{"id":"usr_2","email":"bob@example.com"}}`},
		`updateUserAsOperator(id: "usr_2", change: {disabled: true}) { id }`: {`{"user":` + user + `}`,
			`PATCH /api/operator/users/usr_2 {"disabled":true}`, `{"updateUserAsOperator":{"id":"usr_2"}}`},
		`createUserLinkAsOperator(id: "usr_2", idempotencyKey: "once") { url expiresAt }`: {
			`{"url":"https://x/#1","expires_at":"2026-01-15T09:30:00.000Z"}`, `POST /api/operator/users/usr_2/links`,
			`{"createUserLinkAsOperator":{"url":"https://x/#1","expiresAt":"2026-01-15T09:30:00.000Z"}}`},
		`createOperatorKey(key: {name: "a", allowedIps: ["192.0.2.0/24"], expiresAt: "2036-01-15T09:30:00Z"}) { key { allowedIps createdAt } secret }`: {
			`{"operator_key":` + key + `,"secret":"svc_op_x"}`,
			`POST /api/operator/keys {"allowed_ips":["192.0.2.0/24"],"expires_at":"2036-01-15T09:30:00Z","name":"a"}`,
			`{"createOperatorKey":{"key":{"allowedIps":["192.0.2.0/24"],"createdAt":"2026-01-15T09:30:00.000Z"},"secret":"svc_op_x"}}`},
		`revokeOperatorKey(id: "opk_1") { id }`: {`{"operator_key":` + key + `}`, `DELETE /api/operator/keys/opk_1`,
			`{"revokeOperatorKey":{"id":"opk_1"}}`},
	} {
		rest := &fakeREST{status: 200, answer: c.answer}
		s := newServer(t, setup{rest: rest})
		if a := s.askAs(t, "svc_"+rightstest.OperatorKey, "mutation { "+mutation+" }", nil); a.body != `{"data":`+c.data+`}` {
			t.Errorf("%s got %d %s, want %s", mutation, a.status, a.body, c.data)
		}
		same(t, "the calls of "+mutation, []string{c.want}, rest.seen)
		if want := strings.Contains(mutation, `"once"`); (rest.last.Get("Idempotency-Key") == "once") != want {
			t.Errorf("%s was called with the key %q", mutation, rest.last.Get("Idempotency-Key"))
		}
		rest = &fakeREST{status: 403, answer: `{"error":{"message":"No","code":"insufficient_scope"}}`}
		s = newServer(t, setup{rest: rest})
		if a := s.askAs(t, "svc_"+rightstest.OperatorKey, "mutation { "+mutation+" }", nil); a.codes() != "insufficient_scope" {
			t.Errorf("%s that the REST API refuses got %d %s", mutation, a.status, a.body)
		}
		if a := s.askAs(t, "svc_full", "mutation { "+mutation+" }", nil); a.codes() != "insufficient_scope" || len(rest.seen) != 1 {
			t.Errorf("%s by an API key got %d %s and made %d calls", mutation, a.status, a.body, len(rest.seen))
		}
	}
}

// The first mutation is part of the request for the rate limit; every other one counts as a separate request.
func TestSeveralMutationsCountAsSeveralRequests(t *testing.T) {
	t.Parallel()
	rest := &fakeREST{status: 200, answer: `{"id":"msg_001","status":"sent"}`}
	s := newServer(t, setup{rest: rest})
	s.ask(t, `mutation { a: sendEmail(email: {to: "x"}) { id } b: sendEmail(email: {to: "x"}) { id } c: sendEmail(email: {to: "x"}) { id } }`, nil)
	if len(rest.seen) != 3 || rest.free != 1 {
		t.Errorf("three mutations made %d calls, %d of them counted with the request, want 3 and 1", len(rest.seen), rest.free)
	}
}

// A mutation that succeeded is in the audit log even if another one of its request failed.
func TestAFailingMutationHidesNoOther(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	s.ask(t, `mutation { retryDelivery(selection: {all: true}) { changed } holdDelivery(selection: {}) { changed } }`, nil)
	same(t, "the audit log", []string{ada + " retryDelivery from 127.0.0.1"}, s.done.entries)
}

func TestMutationsOfTheRESTAPIRequireTheirRights(t *testing.T) {
	t.Parallel()
	rest := &fakeREST{status: 200, answer: `{}`}
	s := newServer(t, setup{rest: rest})
	for _, mutation := range []string{`cancelEmail(id: "x") { id }`, `addSuppression(email: "x") { id }`,
		`removeSuppression(id: "x") { id }`, `replayWebhookDelivery(id: "x") { id }`, `removeSuppression(id: "") { id }`} {
		for _, key := range []string{"svc_read", "svc_sending"} {
			if a := s.askAs(t, key, "mutation { "+mutation+" }", nil); a.codes() != "insufficient_scope" {
				t.Errorf("%s under %s got %s, want insufficient_scope", mutation, key, a.body)
			}
		}
	}
	if a := s.ask(t, `mutation { cancelEmail(id: "") { id } }`, nil); a.codes() != "validation_error" {
		t.Errorf("an empty ID got %s, want a validation_error", a.body)
	}
	if len(rest.seen) != 0 {
		t.Errorf("the REST API got %v", rest.seen)
	}
}
