package graph

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/graph/limits"
	"github.com/postrider/postrider/graph/refusal"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
)

const secretText = "pq: relation emails_v2 does not exist"

func breaking(method string, how func() error) map[string]func() error {
	return map[string]func() error{method: how}
}

func TestDefectsAreLoggedAndNotTold(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"List", "Bodies", "Snippets", "Recipients", "Attempts", "Attachments", "Timeline"} {
		for name, how := range map[string]func() error{
			"error": func() error { return fmt.Errorf("read: %w", errors.New(secretText)) },
			"panic": func() error { panic(secretText) },
		} {
			s := newServer(t, setup{emails: 3, hook: breaking(method, how)})
			a := s.ask(t, `{ emails { nodes `+everything(t, "Email")+` } }`, nil)
			if a.status != 200 || a.message() != "Internal error" || !strings.HasPrefix(a.codes(), "internal_error") {
				t.Errorf("when %s fails by %s the answer is %d %.300s, want 200 with only \"Internal error\"", method,
					name, a.status, a.body)
			}
			if strings.Contains(a.body, "pq") || strings.Contains(a.body, "emails_v2") {
				t.Errorf("%s %s: the response exposes internal details: %.300s", method, name, a.body)
			}
			if !strings.Contains(s.log.String(), "emails_v2") {
				t.Errorf("%s %s: the log has nothing of it: %s", method, name, s.log)
			}
		}
	}
}

func TestFieldErrorNamesItsPlaceAndLeavesTheRest(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1, hook: breaking("domains.Get", func() error { return errors.New(secretText) })})
	a := s.ask(t, `{ email(id: "msg_001") { id } d: domain(id: "dom_001") { id } }`, nil)
	same(t, "data", map[string]any{"email": map[string]any{"id": "msg_001"}, "d": nil}, a.Data)
	same(t, "path", []any{"d"}, a.Errors[0].Path)
}

func TestDatabaseAwayIs503(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"by the service":  fault.DatabaseUnavailable(driver.ErrBadConn),
		"by the database": fmt.Errorf("list: %w", driver.ErrBadConn),
	} {
		for _, method := range []string{"List", "Timeline"} {
			s := newServer(t, setup{emails: 2, hook: breaking(method, func() error { return err })})
			a := s.ask(t, `{ emails { nodes { id timeline { id } } } }`, nil)
			if a.status != 503 || a.header.Get("Retry-After") != "5" ||
				!strings.HasPrefix(a.codes(), "delivery_unavailable") || a.message() != refusal.AwayMessage {
				t.Errorf("%s: when %s finds the database away the answer is %d %v %s, want 503 with Retry-After 5 and delivery_unavailable", name, method, a.status, a.header, a.body)
			}
			if strings.Contains(s.log.String(), "level=ERROR") {
				t.Errorf("%s %s: an outage is not a defect: %s", name, method, s.log)
			}
		}
	}
}

// A query for bodies that cannot get memory is refused like a query while the database is unavailable.
func TestNoRoomForBodiesIs503(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	for n, full := 0, false; !full; n++ { // the memory stays full until the end of the test
		_, err := s.held.AcquireWork(t.Context(), intake.Tenant{Account: fmt.Sprint("acc_", n)}, 1<<20,
			time.Millisecond)
		full = err != nil
	}
	a := s.ask(t, `{ email(id: "msg_001") { content { html } } }`, nil)
	if a.status != 503 || a.header.Get("Retry-After") != "5" || a.codes() != "delivery_unavailable" {
		t.Errorf("without room for a body the response is %d %v %s, want 503 with Retry-After 5 and delivery_unavailable", a.status, a.header, a.body)
	}
}

func TestRefusalsOfServicesAreTold(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{hook: breaking("Account", func() error {
		return &fault.Error{Kind: fault.Limit, Code: fault.CodePlanLimit, Message: "Over the cap",
			UpgradeURL: "/settings/billing"}
	})})
	a := s.ask(t, `{ account { id } }`, nil)
	const want = `"message":"Over the cap","path":["account"],"locations":[{"line":1,"column":3}],"extensions":{"code":"plan_limit","upgrade_url":"/settings/billing"}`
	if a.status != 200 || !strings.Contains(a.body, want) {
		t.Errorf("a refusal by the service got status %d and %s, want 200 with %s", a.status, a.body, want)
	}
}

func TestWrongQueriesSaySo(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	for query, message := range map[string]string{
		`{`:                "Expected Name, found <EOF>",
		`{ nothing }`:      `Cannot query field "nothing" on type "Query".`,
		`{ email { id } }`: `Field "email" argument "id" of type "ID!" is required, but it was not provided.`,
		`{ emails(first: "x") { nodes { id } } }`:                     `Int cannot represent non-integer value`,
		`{ emails(first: 99999999999) { nodes { id } } }`:             `An Int must be a whole number of at most 32 bits`,
		`{ emails(first: 99999999999999999999999) { nodes { id } } }`: `Int cannot represent non 32-bit signed integer value`,
		`query($n: Int!) { emails(first: $n) { nodes { id } } }`:      "must be defined",
		`{ emails { nodes { id @module(name: "x") } } }`:              `Unknown directive "@module".`,
		// only one error is reported
		`{ viewer { ... @defer { can } } }`: `Unknown directive "@defer".`,
		`{ emails { nodes } }`:              "must have a selection of subfields",
	} {
		a := s.ask(t, query, nil)
		if !strings.Contains(a.message(), message) || !strings.HasPrefix(a.codes(), "validation_error") ||
			a.status != 400 && a.status != 200 {
			t.Errorf("the wrong query %s got status %d and %s, want a validation_error that says %q", query, a.status,
				a.body, message)
		}
	}
	if s.log.Len() != 0 {
		t.Errorf("callers' mistakes are logged: %s", s.log)
	}
}

func TestMistakesAreToldWithoutWhatWasSent(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	long := strings.Repeat("hunter2", 30)
	for query, message := range map[string]string{
		`{ emails(first: "hunter2") { nodes { id } } }`: `Int cannot represent non-integer value`,
		// the name comes from the query
		`{ emails(filter: {status: hunter2}) { nodes { id } } }`:                   `Value "hunter2" does not exist in "EmailStatus" enum.`,
		`{ emails(filter: {status: "hunter2 x"}) { nodes { id } } }`:               `Enum "EmailStatus" cannot represent non-enum value`,
		`{ email(id: true "hunter2") { id } }`:                                     `Expected Name, found String`,
		`query($v: EmailStatus) { emails(filter: {status: $v}) { nodes { id } } }`: `not a valid EmailStatus`,
		`{ ` + long + ` }`: `Cannot query field "` + long[:39] + `… on type "Query".`,
		`{ emails(filter: {` + long + `: 1}) { nodes { id } } }`: `Field "` + long[:39] +
			`… is not defined by type "EmailFilter".`,
		`query($v: EmailFilter, $w: Int) { emails(filter: $v, first: $w) { nodes { id } } }`: "must be a EmailFilter, not a string",
	} {
		a := s.ask(t, query, map[string]any{"v": "hunter2"})
		if a.status != 400 || a.message() != message || a.codes() != "validation_error" {
			t.Errorf("%.80s got status %d and %s, want 400 validation_error that says %s", query, a.status,
				a.body, message)
		}
	}
	if a := s.ask(t, `query($v: EmailFilter) { emails(filter: $v) { nodes { id } } }`,
		map[string]any{"v": map[string]any{long: 1}}); strings.Contains(a.body, long) ||
		a.codes() != "validation_error" {
		t.Errorf("a long name of a variable's field got %s", a.body)
	}
	if a := s.ask(t, `{`+repeated(19, " x%d { y }")+`}`, nil); len(a.Errors) != limits.Mistakes {
		t.Errorf("19 mistakes got %d errors, want %d", len(a.Errors), limits.Mistakes)
	}
}

func TestVariablesOfAnyKindAreTheCallersMistake(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	values := []any{nil, true, 1, -1, 1.5, 1e300, "", "x", []any{}, []any{1}, map[string]any{}, map[string]any{"a": 1}}
	for _, query := range []string{
		`query($v: Int) { emails(first: $v) { nodes { id } } }`,
		`query($v: Int!) { emails(first: $v) { nodes { id } } }`,
		`query($v: String) { emails(after: $v) { nodes { id } } }`,
		`query($v: ID!) { email(id: $v) { id } }`,
		`query($v: Boolean!) { emails { nodes { id @include(if: $v) } } }`,
		`query($v: [Int]) { emails(first: $v) { nodes { id } } }`,
		`query($v: Email) { __typename }`,
	} {
		for _, v := range values {
			a := s.ask(t, query, map[string]any{"v": v})
			if a.status >= 500 || strings.Contains(a.body, refusal.CodeInternal) {
				t.Errorf("%s with %v: %d %s", query, v, a.status, a.body)
			}
		}
	}
}
