package devinbox

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/web/theme"
)

//go:embed inbox.css
var ownStyle string

var style = theme.Style + ownStyle

// watch is the script that reloads the list when new mail arrives.
//
//go:embed watch.js
var watch string

//go:embed list.html
var listHTML string

//go:embed texts.html
var textsHTML string

//go:embed message.html
var messageHTML string

//go:embed layout.html
var layoutHTML string

var (
	listTemplate    = parseTemplate("list", listHTML)
	textsTemplate   = parseTemplate("texts", textsHTML)
	messageTemplate = parseTemplate("message", messageHTML)
)

func parseTemplate(name, body string) *template.Template {
	root := template.New(name).Funcs(template.FuncMap{"addresses": addresses})
	return template.Must(template.Must(root.Parse(body)).New("layout").Parse(layoutHTML)).Lookup(name)
}

// addresses renders a text that can wrap after an @, but not within a word.
func addresses(text string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(text), "@", "@<wbr>")) //nolint:gosec // escaped
}

// pagePolicy allows our own style and script by their hashes, the frame, and our icon.
var pagePolicy = fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; connect-src 'self'; frame-src 'self'; img-src 'self'; "+
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'", theme.Source(style), theme.Source(watch))

// mailPolicy is for untrusted HTML: no scripts, no origin, and no network requests, because an image would reveal
// to its server that the mail was read. Links open in a new window.
const mailPolicy = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; " +
	"form-action 'none'; frame-ancestors 'self'"

// frame is the layout of every page.
type frame struct {
	Title string
	Style template.CSS
	Watch template.JS
	Home  string
}

func newFrame(title string) frame {
	if title != "" {
		title += " · "
	}
	//nolint:gosec // both are files of this package
	return frame{Title: title + "Development inbox", Style: template.CSS(style), Watch: template.JS(watch),
		Home: Prefix}
}

// html returns the HTML part as the frame shows it.
func (p *pages) html(w http.ResponseWriter, r *http.Request) error {
	_, parsed, err := p.openMail(r)
	if err != nil {
		return err
	}
	if parsed.HTML == "" {
		return fault.NoSuch("HTML of this mail", r.PathValue("id"))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", mailPolicy)
	return send(w, []byte(openLinksOutside(inlinePictures(parsed))))
}

var cidReference = regexp.MustCompile(`(?i)\bcid:([^"'\s<>()\\]+)`)

// inlinePictures converts references to parts of the message (RFC 2392) to data URLs, because the frame cannot load
// anything.
func inlinePictures(m *message.FullMessage) string {
	pictures := map[string]int{} // in Files
	for i, part := range m.Files {
		if part.ContentID != "" && strings.HasPrefix(part.ContentType, "image/") {
			pictures[part.ContentID] = i
		}
	}
	return cidReference.ReplaceAllStringFunc(m.HTML, func(reference string) string {
		id, err := url.PathUnescape(reference[len("cid:"):])
		if err != nil {
			return reference
		}
		i, found := pictures[id]
		if !found || !plainType.MatchString(m.Files[i].ContentType) {
			return reference
		}
		return "data:" + m.Files[i].ContentType + ";base64," + base64.StdEncoding.EncodeToString(m.Contents[i])
	})
}

// plainType keeps the declared type of an image from breaking out of the attribute.
var plainType = regexp.MustCompile(`^image/[a-z0-9.+-]+$`)

var headTag = regexp.MustCompile(`(?i)<head(\s[^>]*)?>`)

// openLinksOutside opens links in a new window, so that a click does not replace the frame.
func openLinksOutside(html string) string {
	const base = `<base target="_blank">`
	if at := headTag.FindStringIndex(html); at != nil {
		return html[:at[1]] + base + html[at[1]:]
	}
	return base + html
}
