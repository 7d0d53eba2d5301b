package app

import (
	"net/http"
	"testing"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
)

// A request that is part of another one, such as the operation of a GraphQL mutation, is not counted again.
func TestPartsOfARequestAreNotCounted(t *testing.T) {
	t.Parallel()
	uncountable := accountRate{} // would panic
	if err := uncountable.Admit(admission.WithCounted(t.Context()), accounts.Account{}, http.Header{}); err != nil {
		t.Errorf("a request that was counted got the error %v, want it admitted", err)
	}
}
