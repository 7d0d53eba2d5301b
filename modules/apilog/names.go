package apilog

import (
	"regexp"
	"strings"
)

// secrecy says how the value of a member is redacted.
type secrecy int

const (
	open    secrecy = iota
	scalar          // strings and numbers are secret, even in lists; members of an object are checked individually
	whole           // the whole value is secret
	headers         // header fields: their values are secret
	files           // attachments: their content is not logged
	content         // the content of a file
	code            // in a response, may be an error code
)

// secretParts are parts of names that mark a value of any type as secret.
var secretParts = []string{"password", "passwd", "passphrase", "secret", "token", "cookie", "authorization", "totp",
	"privatekey", "recoverycode",
	"signature", "replyurl", "downloadurl", "otpauth"}

// harmless are names that only resemble names of secrets.
var harmless = map[string]bool{"publickey": true, "stepkey": true, "statuscode": true, "errorcode": true,
	"enhancedcode": true, "countrycode": true,
	"smtpcredential": true, "smtpcredentials": true}

// secrecyOf classifies a member by its name, ignoring letter case and separators.
func secrecyOf(name string) secrecy {
	word := strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r > 0x7f:
			return r
		}
		return -1
	}, name)
	if harmless[word] {
		return open
	}
	for _, part := range secretParts {
		if strings.Contains(word, part) {
			return whole
		}
	}
	switch {
	case strings.HasSuffix(word, "credential"), strings.HasSuffix(word, "credentials"):
		return whole
	case strings.HasSuffix(word, "key"), strings.HasSuffix(word, "keys"):
		return scalar
	case strings.HasSuffix(word, "code"), strings.HasSuffix(word, "codes"), word == "otp", word == "pin":
		return code
	case strings.HasSuffix(word, "headers"):
		return headers
	case strings.HasSuffix(word, "attachments"):
		return files
	case word == "content":
		return content
	}
	return open
}

// errorCode matches codes of errors and replies, but not login codes.
var errorCode = regexp.MustCompile(`^(?:[a-z]+(?:_[a-z]+)*|[1-5][0-9]{2}|[245]\.[0-9]{1,3}\.[0-9]{1,3})$`)

const secretWord = `[\w.-]*(?:password|passwd|secret|token|signature|api_?key|authorization|cookie)[\w.-]*`

// inText matches text that looks like a secret.
var inText = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b(?:svc|svs|whsec)_[A-Za-z0-9_+/=-]{16,}`), redacted},
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{16,}`), "$1 " + redacted},
	{regexp.MustCompile(`\beyJ[\w-]{10,}(?:\.[\w-]*)*`), redacted}, // a JSON Web Token
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`), redacted},
	{regexp.MustCompile(`otpauth://[^\s"'<>]+`), redacted},
	{regexp.MustCompile(`://[^/\s:@"'<>]+:[^/\s@"'<>]+@`), "://" + redacted + "@"},
	{regexp.MustCompile(`(?i)(` + secretWord + `)=[^&\s"'<>]+`), "$1=" + redacted},
	{regexp.MustCompile(`(?i)("` + secretWord + `"\s*:\s*")(?:[^"\\]|\\.)*`), "$1" + redacted},
}

// withoutSecrets removes text that looks like a secret.
func withoutSecrets(text string) string {
	if !strings.ContainsAny(text, "_=:. -") {
		return text
	}
	for _, is := range inText {
		text = is.pattern.ReplaceAllString(text, is.instead)
	}
	return text
}
