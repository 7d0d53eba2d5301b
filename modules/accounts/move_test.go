package accounts

import (
	"net/url"
	"testing"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
)

// A redirect keeps path and query, and never leaves the host of the base URL.
func TestMovedURLStaysOnTheNewHost(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/api/emails?limit=1":      "https://new.example/api/emails?limit=1",
		"/u/a%2Fb":                 "https://new.example/u/a%2Fb",
		"//evil.example/x":         "https://new.example/evil.example/x",
		"http://evil.example/x":    "https://new.example/x",
		"x:@evil.example":          "https://new.example/",
		"/.evil.example":           "https://new.example/.evil.example",
		"http://evil.example?q=//": "https://new.example/?q=//",
	} {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			t.Fatal(err)
		}
		if u.Host == "" && len(target) > 1 && target[:2] == "//" { // as servers read it
			u = &url.URL{Path: target}
		}
		if got := MovedURL("https://new.example", u); got != want {
			t.Errorf("%s leads to %s, want %s", target, got, want)
		}
	}
}

// A frozen account can be read, an account that has moved cannot, and people keep access to their own profile.
func TestResidenceDecidesByOperation(t *testing.T) {
	t.Parallel()
	reads := map[rights.Operation]bool{rights.Read: true, rights.ReadSent: true, rights.ReadAccount: true, rights.ReadBilling: true}
	for _, op := range rights.Operations() {
		own := op == rights.Person || op == rights.Operate
		if err := (Residence{}).Check(op); err != nil {
			t.Errorf("%s here: %v", op, err)
		}
		frozen := Residence{Frozen: true}.Check(op)
		if allowed := own || reads[op]; allowed != (frozen == nil) || !allowed && fault.KindOf(frozen) != fault.Unavailable {
			t.Errorf("%s of a frozen account: %v", op, frozen)
		}
		moved := Residence{MovedTo: "https://new.example"}.Check(op)
		if own != (moved == nil) || !own && fault.KindOf(moved) != fault.Conflict {
			t.Errorf("%s of an account that has moved: %v", op, moved)
		}
	}
}

// A frozen account answers reads that require a right to write, such as the list of keys.
func TestFrozenAccountAnswersReads(t *testing.T) {
	t.Parallel()
	caller := Caller{AccountID: "acc_1", Scope: rights.ScopeFull, Residence: Residence{Frozen: true}}
	if err := caller.Authorize(rights.Write); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a write got %v, want unavailable", err)
	}
	if err := caller.Reading().Authorize(rights.Write); err != nil {
		t.Errorf("a read got %v", err)
	}
	caller.Residence = Residence{MovedTo: "https://new.example"}
	if err := caller.Reading().Authorize(rights.Read); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a read of an account that has moved got %v, want a conflict", err)
	}
}
