package accounts

import (
	"net/http"
	"testing"

	"github.com/postrider/postrider/runtime/base/fault"
)

func TestBearerRequiresOneCredential(t *testing.T) {
	t.Parallel()
	for _, credentials := range [][]string{{"Bearer svc_1"}, {"bearer  svc_1 "}, {"BEARER svc_1"}} {
		if got, err := Bearer(http.Header{"Authorization": credentials}); got != "svc_1" || err != nil {
			t.Errorf("Bearer of %q: %q, %v, want svc_1", credentials, got, err)
		}
	}
	for _, credentials := range [][]string{nil, {""}, {"Bearer"}, {"Bearer "}, {"Basic svc_1"}, {"svc_1"},
		{"Bearersvc_1"}, {"Bearer svc_1", "Bearer svc_2"}} {
		if got, err := Bearer(http.Header{"Authorization": credentials}); got != "" ||
			fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("Bearer of %q: %q, %v, want unauthorized", credentials, got, err)
		}
	}
}
