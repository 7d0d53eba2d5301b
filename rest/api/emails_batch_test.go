package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
)

// items is the body of a batch.
func items(list ...string) string { return `{"emails":[` + strings.Join(list, ",") + `]}` }

func TestBatchResendAndScheduleAnswers(t *testing.T) {
	t.Parallel()
	post := func(path, body string) request {
		return request{method: http.MethodPost, path: "/api/emails" + path, body: body}
	}
	with := func(more string) string { return strings.TrimSuffix(simple, "}") + "," + more + "}" }
	templated := func(more string) string { return `{"to":"bob@example.net",` + more + `}` }
	deleted := fault.Conflictf(fault.CodeConflict,
		"The body of this email was deleted at 2026-01-15T09:30:00Z and cannot be sent again")
	for name, c := range map[string]struct {
		request request
		fail    error
		status  int
	}{
		"batch":               {request: post("/batch", items(simple, simple)), status: 200},
		"batch_scope_sending": {request: request{method: http.MethodPost, path: "/api/emails/batch", body: items(simple), key: "sending"}, status: 200},
		"batch_scope_read":    {request: request{method: http.MethodPost, path: "/api/emails/batch", body: items(simple), key: "read"}, status: 403},
		"batch_mixed": {request: post("/batch", items(simple, `{"to":5,"subjct":"x"}`, `7`, `null`,
			with(`"attachments":[{"name":"a.txt","data":"!"}]`), with(`"cc":"c@example.net"`),
			with(`"bcc":"c@example.net"`), simple)), status: 200},
		"batch_not_an_array":  {request: post("/batch", `{"emails":`+simple+`}`), status: 400},
		"batch_empty":         {request: post("/batch", items()), status: 400},
		"batch_null":          {request: post("/batch", `{"emails":null}`), status: 400},
		"batch_over_100":      {request: post("/batch", items(strings.Split(strings.Repeat("{},", 100)+"{}", ",")...)), status: 400},
		"batch_unknown_field": {request: post("/batch", `{"emails":[`+simple+`],"email":1}`), status: 400},
		"batch_bare_array":    {request: post("/batch", `[`+simple+`]`), status: 400},
		"batch_away":          {request: post("/batch", items(simple)), fail: fault.DatabaseUnavailable(http.ErrServerClosed), status: 503},
		"batch_too_large":     {request: post("/batch", items(strings.Repeat(" ", 20<<20))), status: 413},
		"resend":              {request: post("/"+emailID+"/resend", ""), status: 200},
		"resend_empty_object": {request: post("/"+emailID+"/resend", "{}"), status: 200},
		"resend_body":         {request: post("/"+emailID+"/resend", simple), status: 400},
		"resend_unknown":      {request: post("/msg_01kf0m4w7he6x8q2v5b3n9c1tb/resend", ""), status: 404},
		"resend_garbage":      {request: post("/x/resend", ""), status: 404},
		"resend_scope":        {request: request{method: http.MethodPost, path: "/api/emails/" + emailID + "/resend", key: "read"}, status: 403},
		"resend_purged":       {request: post("/"+emailID+"/resend", ""), fail: deleted, status: 409},
		"schedule_bad":        {request: post("", with(`"scheduled_at":"2026-11-21 10:00"`)), status: 400},
		"schedule_no_offset":  {request: post("", with(`"scheduledAt":"2026-11-21T10:00:00"`)), status: 400},
		"schedule_past":       {request: post("", with(`"scheduled_at":"2020-01-01T00:00:00Z"`)), status: 400},
		"schedule_far":        {request: post("", with(`"scheduled_at":"2199-01-01T00:00:00Z"`)), status: 400},
		"schedule_attachments": {request: post("",
			with(`"scheduled_at":"2020-01-01T00:00:00Z","attachments":[{"name":"a.txt","data":"QQ=="}]`)), status: 400},
		"unsubscribe_headers": {request: post("",
			with(`"unsubscribe":true,"headers":{"list-unsubscribe":"<mailto:a@b.c>","List-Unsubscribe-Post":"x"}`)),
			status: 400},
		"unsubscribe_not_a_bool": {request: post("", with(`"unsubscribe":"yes"`)), status: 400},
		"category_bad":           {request: post("", with(`"category":"!!!"`)), status: 400},
		"category_empty":         {request: post("", with(`"category":""`)), status: 200},
		"template":               {request: post("", templated(`"template":{"alias":"receipt","variables":{"a":1}}`)), status: 200},
		"template_both":          {request: post("", templated(`"template":{"alias":"receipt","id":"tpl_1"}`)), status: 400},
		"template_neither":       {request: post("", templated(`"template":{"variables":{}}`)), status: 400},
		"template_not_an_object": {request: post("", templated(`"template":"receipt"`)), status: 400},
		"template_variables":     {request: post("", templated(`"template":{"alias":"receipt","variables":[1],"data":{}}`)), status: 400},
		"template_twice":         {request: post("", templated(`"template":{"alias":"receipt","variables":{"a":1,"a":2,"o":{"b":1,"b":2}}}`)), status: 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundleFor(t, c.request.path)
			b.sending.fail = c.fail
			got := b.do(t, c.request)
			if got.status != c.status {
				t.Errorf("status %d, want %d: %s", got.status, c.status, got.body)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
}
