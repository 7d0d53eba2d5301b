package signin

import (
	"net/url"
	"path"
	"strings"
	"unicode"
)

const maxReturn = 2048 // octets

// publicLinks are paths that strangers have links to, some of which lead to other sites, and paths of
// programs. Nobody wants to see one of them after a sign-in, so who asks for it lays a trap.
var publicLinks = []string{"/t/", "/u/", "/api/", "/graphql"}

// ReturnPath gives the page to show somebody after they have signed in: text itself when it is the path
// of a page of this installation, with or without a query, and "/" for everything else.
func ReturnPath(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.IsAbs(), u.Host != "", u.User != nil, u.Opaque != "", len(text) > maxReturn:
		return "/"
	case !strings.HasPrefix(text, "/"), strings.Contains(text, `\`), strings.ContainsFunc(text, unprintable):
		return "/"
	}
	return cleanPage(u.Path, text)
}

// ReturnParameter is the query parameter of the sign-in page that has a ReturnPath.
const ReturnParameter = "next"

// Door is the path of the sign-in page for somebody who wants to go to returnTo, with further query
// parameters by name and value.
func Door(returnTo string, query url.Values) string {
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

func unprintable(r rune) bool {
	return r > unicode.MaxASCII || unicode.IsControl(r) || unicode.IsSpace(r)
}

// cleanPage gives text if its path, decoded, is one that no browser and no router reads as another.
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
