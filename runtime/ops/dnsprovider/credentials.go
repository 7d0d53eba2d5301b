package dnsprovider

import (
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
)

// root is the path of the credentials in a request.
const root = "credentials"

// maxCredential is longer than any known token.
const maxCredential = 4096

// check reports all missing, unknown and malformed credentials.
func (p *provider) check(credentials map[string]secret.String, wrong fault.Fields) given {
	values := given{}
	for _, c := range p.credentials {
		value := strings.TrimSpace(credentials[c.Name].Reveal())
		path := root + "." + c.Name
		switch {
		case value == "" && !c.Optional:
			wrong.Add(path, "is required: %s", c.About)
		case value == "":
		case len(value) > maxCredential:
			wrong.Add(path, "must be at most %d bytes", maxCredential)
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
			wrong.Add(path, "must be printable ASCII")
		case c.check != nil && c.check(value) != nil:
			wrong.Add(path, "%s", c.check(value))
		default:
			values[c.Name] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(credentials)) {
		if !slices.ContainsFunc(p.credentials, func(c Credential) bool { return c.Name == name }) {
			wrong.Add(root+"."+clipText(name), "is not a credential of %s, which accepts %s", p.name,
				strings.Join(p.names(), ", "))
		}
	}
	return values
}

func (p *provider) names() []string {
	names := make([]string, 0, len(p.credentials))
	for _, c := range p.credentials {
		names = append(names, c.Name)
	}
	return names
}

// scrubber removes secrets from the texts of providers.
type scrubber struct{ secrets []string }

func (p *provider) scrubber(values given) scrubber {
	var s scrubber
	for _, c := range p.credentials {
		value := values[c.Name]
		if c.public || value == "" {
			continue
		}
		s.secrets = append(s.secrets, value, url.QueryEscape(value), base64.StdEncoding.EncodeToString([]byte(value)))
	}
	return s
}

// part is the length of the shortest piece of a secret that is removed, because some providers show the
// beginning of a rejected token.
const part = 6

// clean returns a text without any piece of a secret, on one line.
func (s scrubber) clean(text string) string {
	const most = 400
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	hidden := make([]bool, len(text))
	for _, value := range s.secrets {
		hideValue(hidden, text, value)
	}
	var out strings.Builder
	for i := range len(text) {
		switch {
		case !hidden[i]:
			out.WriteByte(text[i])
		case i == 0 || !hidden[i-1]:
			out.WriteString(secret.Redacted)
		}
	}
	text = strings.Join(strings.Fields(out.String()), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// hideValue marks the pieces of the value in the text.
func hideValue(hidden []bool, text, value string) {
	size := min(part, len(value))
	for i := 0; i+size <= len(text); i++ {
		if strings.Contains(value, text[i:i+size]) {
			for n := i; n < i+size; n++ {
				hidden[n] = true
			}
		}
	}
}
