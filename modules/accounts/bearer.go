package accounts

import (
	"net/http"
	"strings"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Bearer reads the credential of a request (RFC 6750 section 2.1), for
// Authenticate. Two credentials are none: which of them was meant is not for us
// to guess.
func Bearer(header http.Header) (string, error) {
	credentials := header.Values("Authorization")
	if len(credentials) != 1 {
		return "", fault.Unauthenticated()
	}
	// RFC 9110 section 11.1: the scheme is case-insensitive.
	scheme, bearer, _ := strings.Cut(credentials[0], " ")
	bearer = strings.TrimSpace(bearer)
	if !strings.EqualFold(scheme, "Bearer") || bearer == "" {
		return "", fault.Unauthenticated()
	}
	return bearer, nil
}
