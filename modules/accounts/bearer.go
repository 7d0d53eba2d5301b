package accounts

import (
	"net/http"
	"strings"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Bearer returns the credential of a request (RFC 6750 section 2.1), for Authenticate. A request with two
// credentials is unauthenticated, because it is ambiguous.
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
