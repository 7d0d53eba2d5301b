package dashboard

import (
	"io"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// What an email is shown without. The policy of a preview stops scripts and loads nothing; these reach the
// network past a policy (a name is looked up for a link element), lead the frame elsewhere, or have the
// browser complain of each that it stops. It is done here since a document that the app parses has the
// policy of the app.
var (
	unshown = []atom.Atom{atom.Script, atom.Link, atom.Base, atom.Object, atom.Embed, atom.Iframe, atom.Frame, atom.Frameset, atom.Applet}
	loading = []string{"src", "srcset", "poster", "background"}
	leading = []string{"href", "action", "formaction", "xlink:href"}

	elsewhere = regexp.MustCompile(`(?i)^\s*(https?:)?//|,\s*(https?:)?//`)
	runs      = regexp.MustCompile(`(?i)^(javascript|vbscript|data):`)
	ignored   = regexp.MustCompile(`[\x00-\x20]+`) // by browsers, in the scheme of a URL
)

// clean writes an email as it can be shown; with pictures those of elsewhere are left in it.
func clean(w io.Writer, email string, pictures bool) error {
	doc, err := html.Parse(strings.NewReader(email))
	if err != nil {
		return err
	}
	var gone []*html.Node
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if slices.Contains(unshown, n.DataAtom) || n.Data == "portal" || n.DataAtom == atom.Meta && has(n, "http-equiv") {
			gone = append(gone, n)
			continue
		}
		n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool {
			name := a.Key
			if a.Namespace != "" {
				name = a.Namespace + ":" + name
			}
			switch {
			case strings.HasPrefix(name, "on"), name == "ping", name == "srcdoc":
				return true
			case slices.Contains(leading, name):
				return runs.MatchString(ignored.ReplaceAllString(a.Val, ""))
			case slices.Contains(loading, name):
				return !pictures && elsewhere.MatchString(a.Val)
			}
			return false
		})
	}
	for _, n := range gone {
		n.Parent.RemoveChild(n)
	}
	return html.Render(w, doc)
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}
