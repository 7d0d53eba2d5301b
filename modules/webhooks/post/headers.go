package post

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
)

// Bounds of the header fields of a response that are stored.
const (
	maxHeaders     = 16
	maxHeaderBytes = 2 << 10
	maxHeaderValue = 512
)

// notStored replaces the value of a header field that can be a secret.
const notStored = "[not stored]"

// firstHeaders are the fields that explain an outcome. They are stored first.
var firstHeaders = []string{"Content-Type", "Location", "Retry-After", "Server", "Via", "Www-Authenticate",
	"X-Request-Id", "Request-Id", "X-Correlation-Id", "X-Amzn-Requestid", "Cf-Ray"}

// policyHeaders are long policies for browsers, which explain nothing.
var policyHeaders = []string{"Content-Security-Policy", "Content-Security-Policy-Report-Only", "Permissions-Policy",
	"Feature-Policy", "Report-To", "Reporting-Endpoints", "Nel", "Strict-Transport-Security", "Alt-Svc"}

// FormatHeaders returns the header fields of a response that are stored, one per line: at most 16 fields and 2 KiB,
// without the values of cookies and other secrets.
func FormatHeaders(from http.Header) string {
	var out strings.Builder
	stored := 0
	for _, name := range slices.SortedFunc(maps.Keys(from), compareHeaders) {
		if stored == maxHeaders {
			break
		}
		if slices.Contains(policyHeaders, name) {
			continue
		}
		value := notStored
		if !isSecretHeader(name) {
			value = truncateText(makeStorable([]byte(strings.Join(from[name], ", "))), maxHeaderValue)
		}
		line := name + ": " + value + "\n"
		if out.Len()+len(line) > maxHeaderBytes {
			continue
		}
		out.WriteString(line)
		stored++
	}
	return out.String()
}

// ParseHeaders returns the header fields that FormatHeaders returned as text.
func ParseHeaders(text string) []shape.Header {
	all := []shape.Header{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		all = append(all, shape.Header{Name: name, Value: value})
	}
	return all
}

func compareHeaders(a, b string) int {
	return cmp.Or(cmp.Compare(rankOfHeader(a), rankOfHeader(b)), strings.Compare(a, b))
}

func rankOfHeader(name string) int {
	if i := slices.Index(firstHeaders, name); i >= 0 {
		return i
	}
	return len(firstHeaders)
}

// isSecretHeader reports whether the value of a header field can be a credential.
func isSecretHeader(name string) bool {
	name = strings.ToLower(name)
	if name == "www-authenticate" {
		return false // names the scheme that the server expects
	}
	return slices.ContainsFunc([]string{"cookie", "auth", "token", "secret", "password", "api-key", "apikey", "session",
		"csrf", "xsrf"}, func(word string) bool { return strings.Contains(name, word) })
}
