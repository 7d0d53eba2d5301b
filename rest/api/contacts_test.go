package api_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/postrider/postrider/modules/retention"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
)

// fakeContacts has sent to bob@example.net and to bob+x@example.net, and validates addresses like the real service.
type fakeContacts struct {
	fail  error
	asked []string
	users []string // by user_id
}

func (f *fakeContacts) EraseUser(_ context.Context, account, userID string) error {
	f.users = append(f.users, account+" "+userID)
	return nil
}

func (f *fakeContacts) Erase(_ context.Context, account, email string) (retention.Erased, error) {
	f.asked = append(f.asked, account+" "+email)
	if _, err := address.Parse(email); err != nil {
		return retention.Erased{}, fault.InvalidField("email", "%s", err)
	}
	if account == accountID && (email == "bob@example.net" || email == "bob+x@example.net") {
		return retention.Erased{Emails: 3, Redacted: 1, Suppressions: 2, Events: 4}, f.fail
	}
	return retention.Erased{}, f.fail
}

func TestContactAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request request
		fail    error
		status  int
	}{
		"contact_erased":         {request: request{method: "DELETE", path: "/api/contacts/bob@example.net/data"}, status: 200},
		"contact_erased_encoded": {request: request{method: "DELETE", path: "/api/contacts/bob%2Bx%40example.net/data"}, status: 200},
		"contact_erased_none":    {request: request{method: "DELETE", path: "/api/contacts/nobody@example.net/data"}, status: 200},
		"contact_bad":            {request: request{method: "DELETE", path: "/api/contacts/bob/data"}, status: 400},
		"contact_garbage":        {request: request{method: "DELETE", path: "/api/contacts/%00%ff@example.net/data"}, status: 400},
		"contact_body": {request: request{method: "DELETE", path: "/api/contacts/bob@example.net/data",
			body: `{"email":"bob@example.net"}`}, status: 400},
		"contact_scope_read":    {request: request{method: "DELETE", path: "/api/contacts/bob@example.net/data", key: "read"}, status: 403},
		"contact_scope_sending": {request: request{method: "DELETE", path: "/api/contacts/bob@example.net/data", key: "sending"}, status: 403},
		"contact_unauthorized":  {request: request{method: "DELETE", path: "/api/contacts/bob@example.net/data", key: "-"}, status: 401},
		"contact_method":        {request: request{method: "GET", path: "/api/contacts/bob@example.net/data"}, status: 405},
		"contact_away": {request: request{method: "DELETE", path: "/api/contacts/bob@example.net/data"},
			fail: fault.DatabaseUnavailable(errors.New("connection refused")), status: 503},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundleFor(t, c.request.path)
			b.contacts.fail = c.fail
			got := b.do(t, c.request)
			if got.status != c.status || got.header.Get("Content-Type") != "application/json" {
				t.Errorf("status %d, want %d, %s: %s", got.status, c.status, got.header.Get("Content-Type"), got.body)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
}

func TestContactAddressIsDecodedOnce(t *testing.T) {
	t.Parallel()
	b := newBundleFor(t, "/api/contacts")
	for _, encoded := range []string{"bob+x@example.net", "bob%2Bx%40example.net", "bob%252Bx@example.net",
		"a%2Fb@example.net"} {
		b.do(t, request{method: "DELETE", path: "/api/contacts/" + encoded + "/data"})
	}
	want := []string{accountID + " bob+x@example.net", accountID + " bob+x@example.net", accountID +
		" bob%2Bx@example.net", accountID + " a/b@example.net"}
	if !slices.Equal(b.contacts.asked, want) {
		t.Errorf("asked for %q, want %q", b.contacts.asked, want)
	}
}

func TestContactsAreErasedByTheirUserIDToo(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	if got := b.do(t, request{method: "DELETE",
		path: "/api/contacts/bob@example.net/data?user_id=user-17"}); got.status != 200 ||
		!slices.Equal(b.contacts.users, []string{accountID + " user-17"}) {
		t.Errorf("erase with user_id: %d %s, and the service was asked for %q", got.status, got.body, b.contacts.users)
	}
}
