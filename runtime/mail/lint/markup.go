package lint

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// clipSize is the number of bytes of HTML that Gmail shows. It replaces the rest with a link.
const clipSize = 102 << 10

// elements lists the elements that mail clients remove or do not show.
var elements = map[atom.Atom]problem{
	atom.Script: {"script", Error, "Scripts never run in mail clients, and many filters treat them as an attack.",
		"Remove the script."},
	atom.Form: formProblem, atom.Input: formProblem, atom.Select: formProblem, atom.Textarea: formProblem,
	atom.Iframe: frameProblem, atom.Object: frameProblem, atom.Embed: frameProblem,
	atom.Video: mediaProblem, atom.Audio: mediaProblem,
	atom.Svg: {"inline_svg", Warning, "Gmail and Outlook do not show inline SVG.", "Use a PNG image."},
}

var (
	formProblem = problem{"form", Error, "Gmail warns about forms, and Outlook removes them.",
		"Link to a web page with the form."}
	frameProblem = problem{"frame", Error, "Mail clients remove frames and embedded objects.",
		"Link to a web page with the content."}
	mediaProblem = problem{"media", Warning, "Video and audio play only in Apple Mail.",
		"Use an image that links to a page with the recording."}
)

// properties lists the styles that mail clients ignore.
var properties = []struct {
	pattern *regexp.Regexp
	problem
}{
	{regexp.MustCompile(`(?i)display\s*:\s*(inline-)?flex`), problem{"flexbox", Warning,
		"Outlook on Windows ignores flexbox.", "Use a table for the layout."}},
	{regexp.MustCompile(`(?i)display\s*:\s*(inline-)?grid`), problem{"css_grid", Warning,
		"Outlook on Windows and several webmail clients ignore CSS grid.", "Use a table for the layout."}},
	{regexp.MustCompile(`(?i)position\s*:\s*(absolute|fixed|sticky)`), problem{"css_position", Warning,
		"Gmail and Outlook ignore position, so elements may overlap.", "Use a table for the layout."}},
	{regexp.MustCompile(`(?i)var\s*\(\s*--`), problem{"css_variables", Warning,
		"Outlook and older Gmail apps do not support CSS variables, so colors are lost.", "Write the values."}},
	{regexp.MustCompile(`(?i)@font-face|@import`), problem{"external_font", Warning,
		"Most clients load no external fonts or styles.", "Add a fallback font that is installed everywhere."}},
	{regexp.MustCompile(`(?i)background(-image)?\s*:[^;"'}]{0,200}url\(`), problem{"background_image", Warning,
		"Outlook on Windows shows no background images, so text on them may be unreadable.",
		"Set a background color too."}},
}

var (
	clipped = problem{"html_clipped", Warning, "", "Shorten the HTML: remove unused styles and comments."}
	noText  = problem{"no_text_part", Warning,
		"Spam filters penalize HTML without a text part, and some people read plain text only.", "Add a text part."}
	noLanguage = problem{"no_language", Info, "Screen readers do not know the language of the email.",
		`Set it: <html lang="en">.`}
	externalStyles = problem{"external_stylesheet", Error, "Gmail and Outlook ignore external stylesheets.",
		"Put the styles into the email. Publishing a template inlines them."}
	dataImage = problem{"data_url_image", Warning, "Gmail and Outlook do not show images in data URLs.",
		"Attach the image and use its cid: URL, or use an https URL."}
	noAlt = problem{"image_without_alt", Warning,
		"Many clients block images by default and show only the alternative text.",
		`Describe the image in alt. Use alt="" if it is decoration.`}
	noSize = problem{"image_without_size", Info,
		"The layout moves while images load, and Outlook shows them in their full size.",
		"Set the attributes width and height."}
	unfilled = problem{"unfilled_variable", Error, "Recipients will see the name of a variable.",
		"Send a value for the variable, or correct its name."}
)

// placeholder matches variables that were not filled. The length is limited, because the text may be a document of
// its own that contains one brace.
var placeholder = regexp.MustCompile(`\{\{[^{}\n]{0,200}\}\}|\{%[^%\n]{0,200}%\}`)

var (
	escapedToken = regexp.MustCompile(`(?i)%7b%7b`)
	unsubscribe  = regexp.MustCompile(`^\{\{\s*unsubscribe_url\s*\}\}$`)
)

// inspectHTML inspects the HTML part and returns its links.
func inspectHTML(r *report, m Mail) []Link {
	if strings.TrimSpace(m.HTML) == "" {
		return nil
	}
	if size := len(m.HTML); size > clipSize {
		p := clipped
		p.reason = fmt.Sprintf("The HTML has %d kB. Gmail shows the first 102 kB, which hides the unsubscribe link "+
			"and the tracking image.", (size+1023)>>10)
		r.add(p, HTML, Place{})
	}
	if strings.TrimSpace(m.Text) == "" && !m.AutoText {
		r.add(noText, Message, Place{})
	}
	w := &walker{report: r, mail: m, line: 1, links: newLinkSet(r, m)}
	if w.walk(); !w.language {
		r.add(noLanguage, HTML, Place{})
	}
	return w.links.list
}

var newline = []byte("\n")

// maxStyles is the number of bytes of styles that are inspected, which is more than all clients together show.
const maxStyles = 512 << 10

// maxToken is the number of bytes of a tag or a text. A tag of several megabytes could have a million attributes, which
// take up a hundred times the memory of their text.
const maxToken = 512 << 10

var largeToken = problem{"html_not_inspected", Warning,
	"A tag or a text is larger than 512 kB, so the rest of the HTML was not inspected.",
	"Attach images instead of data URLs, then check the email again."}

// walker reads the tokens of an HTML part.
type walker struct {
	*report

	mail     Mail
	line     int // of the token
	language bool
	style    bool      // inside <style>
	styles   int       // bytes of styles inspected
	hidden   atom.Atom // an element whose text is not shown, until it ends
	links    *linkSet
}

func (w *walker) walk() {
	z := html.NewTokenizer(strings.NewReader(w.mail.HTML))
	z.SetMaxBuf(maxToken)
	for {
		kind := z.Next()
		lines := bytes.Count(z.Raw(), newline)
		switch kind {
		case html.ErrorToken: // the end, or a token that is too large
			w.links.closeLink()
			if errors.Is(z.Err(), html.ErrBufferExceeded) {
				w.language = true // unknown
				w.add(largeToken, HTML, Place{Line: w.line})
			}
			return
		case html.TextToken:
			w.inspectContent(string(z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			w.startElement(z.Token())
		case html.EndTagToken:
			name, _ := z.TagName()
			w.endElement(atom.Lookup(name))
		case html.CommentToken, html.DoctypeToken:
		}
		w.line += lines
	}
}

func (w *walker) inspectContent(text string) {
	switch {
	case w.style:
		w.inspectStyle(text, "<style>")
	case w.hidden == 0:
		w.links.addLabel(text)
		for _, at := range placeholder.FindAllStringIndex(text, MaxPlaces) {
			token := text[at[0]:at[1]]
			if w.mail.Managed && unsubscribe.MatchString(token) {
				continue
			}
			w.add(unfilled, HTML, Place{w.line + strings.Count(text[:at[0]], "\n"), token})
		}
	}
}

func (w *walker) inspectStyle(style, element string) {
	style = style[:min(len(style), maxStyles-w.styles)]
	w.styles += len(style)
	for _, p := range properties {
		if at := p.pattern.FindStringIndex(style); at != nil {
			w.add(p.problem, HTML, Place{w.line + strings.Count(style[:at[0]], "\n"), element})
		}
	}
}

// invisible lists the elements whose content clients do not show as text.
var invisible = map[atom.Atom]bool{atom.Script: true, atom.Title: true, atom.Template: true, atom.Noscript: true,
	atom.Textarea: true}

func (w *walker) startElement(t html.Token) {
	if w.hidden != 0 {
		return
	}
	if p, listed := elements[t.DataAtom]; listed {
		w.add(p, HTML, Place{w.line, tag(t)})
	}
	if style := attribute(t, "style"); style != "" {
		w.inspectStyle(style, tag(t))
	}
	open := t.Type == html.StartTagToken
	switch t.DataAtom {
	case atom.Style:
		w.style = open
	case atom.Html:
		w.language = attribute(t, "lang") != ""
	case atom.Link:
		if strings.Contains(strings.ToLower(attribute(t, "rel")), "stylesheet") {
			w.add(externalStyles, HTML, Place{w.line, tag(t)})
		}
	case atom.Img:
		w.inspectImage(t)
	case atom.A:
		w.links.openLink(attribute(t, "href"), hasAttribute(t, "href"), w.line)
	case atom.Area:
		w.links.openLink(attribute(t, "href"), hasAttribute(t, "href"), w.line)
		w.links.addLabel(attribute(t, "alt"))
		w.links.closeLink()
	}
	if open && invisible[t.DataAtom] {
		w.hidden = t.DataAtom
	}
}

func (w *walker) endElement(name atom.Atom) {
	switch {
	case name == atom.Style:
		w.style = false
	case w.hidden == name:
		w.hidden = 0
	case name == atom.A:
		w.links.closeLink()
	}
}

func (w *walker) inspectImage(t html.Token) {
	src, at := attribute(t, "src"), Place{w.line, tag(t)}
	w.links.addLabel(attribute(t, "alt"))
	if attribute(t, "width") == "1" || strings.Contains(src, "/t/o/") { // counts opens
		return
	}
	if len(src) >= 5 && strings.EqualFold(src[:5], "data:") {
		w.add(dataImage, HTML, at)
	}
	if !hasAttribute(t, "alt") {
		w.add(noAlt, HTML, at)
	}
	style := strings.ToLower(attribute(t, "style"))
	for _, side := range []string{"width", "height"} {
		if attribute(t, side) == "" && !strings.Contains(style, side+":") {
			w.add(noSize, HTML, at)
			return
		}
	}
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return strings.TrimSpace(a.Val)
		}
	}
	return ""
}

func hasAttribute(t html.Token, name string) bool {
	for _, a := range t.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

// tag returns a start tag with the attributes that identify it.
func tag(t html.Token) string {
	var b strings.Builder
	b.WriteString("<" + t.Data)
	for _, name := range []string{"id", "class", "src", "href", "alt"} {
		if value := attribute(t, name); value != "" && b.Len() < maxElement {
			fmt.Fprintf(&b, " %s=%q", name, value[:min(len(value), maxElement)])
		}
	}
	return b.String() + ">"
}

// inspectText inspects the text part.
func inspectText(r *report, m Mail) {
	line := 0
	for text := range strings.Lines(m.Text) {
		line++
		for _, token := range placeholder.FindAllString(text, MaxPlaces) {
			if !m.Managed || !unsubscribe.MatchString(token) {
				r.add(unfilled, Text, Place{line, token})
			}
		}
		for _, address := range textLink.FindAllString(text, MaxPlaces) {
			if isShortener(hostOf(address)) {
				r.add(shortener, Text, Place{line, address})
			}
		}
	}
}

var noSubject = problem{"no_subject", Error, "Spam filters penalize emails without a subject.", "Set a subject."}

func inspectSubject(r *report, m Mail) {
	if strings.TrimSpace(m.Subject) == "" && !m.NoSubject {
		r.add(noSubject, Subject, Place{})
	}
	for _, token := range placeholder.FindAllString(m.Subject, MaxPlaces) {
		if !m.Managed || !unsubscribe.MatchString(token) {
			r.add(unfilled, Subject, Place{1, token})
		}
	}
}
