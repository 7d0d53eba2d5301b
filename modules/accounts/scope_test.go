package accounts

import (
	"testing"

	"github.com/postrider/postrider/runtime/fault"
)

func TestScopes(t *testing.T) {
	t.Parallel()
	operations := []Operation{Write, Read, ReadSent, Send, Operation(-1), Operation(9)}
	for scope, want := range map[Scope][]bool{
		ScopeFull:    {true, true, true, true, false, false},
		ScopeSending: {false, false, true, true, false, false},
		ScopeRead:    {false, true, true, false, false, false},
		"":           {false, false, false, false, false, false},
		"Full":       {false, false, false, false, false, false},
	} {
		for i, op := range operations {
			if got := scope.Allows(op); got != want[i] {
				t.Errorf("%q.Allows(%d) = %t", scope, op, got)
			}
			err := Caller{Scope: scope}.Authorize(op)
			if (err == nil) != want[i] || err != nil && fault.From(err).Code != fault.CodeInsufficientScope {
				t.Errorf("%q.Authorize(%d) = %v", scope, op, err)
			}
		}
	}
}

func TestDomainsOfAKey(t *testing.T) {
	t.Parallel()
	if !(Caller{}).MayUseDomain("dom_1") {
		t.Error("a key without domains may not use one")
	}
	limited := Caller{DomainIDs: []string{"dom_1", "dom_2"}}
	if !limited.MayUseDomain("dom_2") || limited.MayUseDomain("dom_3") || limited.MayUseDomain("") {
		t.Error("a key with domains is not limited to them")
	}
}
