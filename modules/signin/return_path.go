package signin

import (
	"net/url"
	"path"
	"strings"
	"unicode"
)

const maxReturn = 2048 // bytes

// publicLinks lists path prefixes of public links, some of which redirect to other sites, and of APIs. No
// sign-in needs to lead there, so ReturnPath rejects them.
var publicLinks = []string{"/t/", "/u/", "/api/", "/graphql"}

// ReturnPath returns the page to show after a sign-in: text if it is the path of a page of this installation,
// with or without a query, and "/" otherwise.
func ReturnPath(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.IsAbs(), u.Host != "", u.User != nil, u.Opaque != "", len(text) > maxReturn:
		return "/"
	case !strings.HasPrefix(text, "/"), strings.Contains(text, `\`), strings.ContainsFunc(text, isUnprintable):
		return "/"
	}
	return cleanPage(u.Path, text)
}

// ReturnParameter is the query parameter of the sign-in page that contains a ReturnPath.
const ReturnParameter = "next"

// PagePath returns the path of the sign-in page that redirects to returnTo after the sign-in, with additional query
// parameters.
func PagePath(returnTo string, query url.Values) string {
	if query == nil {
		query = url.Values{}
	}
	if returnTo = ReturnPath(returnTo); returnTo != "/" {
		query.Set(ReturnParameter, returnTo)
	}
	if len(query) == 0 {
		return PathSignIn
	}
	return PathSignIn + "?" + query.Encode()
}

func isUnprintable(r rune) bool {
	return r > unicode.MaxASCII || unicode.IsControl(r) || unicode.IsSpace(r)
}

// cleanPage returns text if all browsers and routers resolve its decoded path to the same page, and "/"
// otherwise.
func cleanPage(decoded, text string) string {
	if strings.Contains(decoded, `\`) || strings.ContainsFunc(decoded, unicode.IsControl) {
		return "/"
	}
	if clean := path.Clean(decoded); decoded != clean && decoded != clean+"/" {
		return "/"
	}
	for _, prefix := range publicLinks {
		if strings.HasPrefix(decoded+"/", prefix) {
			return "/"
		}
	}
	return text
}
