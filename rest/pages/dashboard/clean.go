package dashboard

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// A preview shows an email without some of its parts. The policy of the response blocks scripts and loads
// nothing. The parts that are removed here would use the network in spite of the policy (a link element causes a DNS
// lookup), navigate the frame, or make the browser report each part that it blocks. The server removes them, because a
// document that the app parses has the policy of the app.
var (
	// removed are elements that are not shown. Their content is shown, unless it is raw text.
	removed = []string{"script", "link", "base", "object", "embed", "iframe", "frame", "frameset", "applet", "noembed",
		"noframes", "noscript", "portal"}
	// unread are elements whose content is raw text that readers do not see.
	unread = []string{"script", "iframe", "noembed", "noframes"}
	// preformatted are obsolete elements whose content is raw text that readers see.
	preformatted = []string{"xmp", "plaintext", "listing"}

	loading = []string{"src", "srcset", "poster", "background"}
	leading = []string{"href", "action", "formaction", "xlink:href"}

	elsewhere = regexp.MustCompile(`(?i)^\s*(https?:)?//|,\s*(https?:)?//`)
	runs      = regexp.MustCompile(`(?i)^(javascript|vbscript|data):`)
	ignored   = regexp.MustCompile(`[\x00-\x20]+`) // by browsers, in the scheme of a URL

	ordinaryName    = regexp.MustCompile(`^[a-z][a-z0-9:_.-]*$`)
	ordinaryDoctype = regexp.MustCompile(`^[\w\s"'/:.+-]+$`)
)

// clean writes an email so that it can be shown safely.
//
// It rewrites the email tag by tag and builds no tree, so that it takes time in proportion to the size, and memory for
// one tag, however deeply the email is nested. Browsers may parse the same tags into a different tree, because context
// decides whether a tag is markup or text. This is safe, because every "<" of the result starts a checked tag, and all
// others are escaped: in text, in attribute values, and in style sheets.
func clean(w io.Writer, email io.Reader, look appearance) error {
	c := cleaner{out: bufio.NewWriterSize(w, 8<<10), from: html.NewTokenizer(email), appearance: look}
	for c.err == nil {
		kind := c.from.Next()
		switch kind {
		case html.ErrorToken:
			if err := c.from.Err(); !errors.Is(err, io.EOF) {
				return err
			}
			return c.out.Flush()
		case html.TextToken:
			c.text()
		case html.StartTagToken, html.SelfClosingTagToken:
			c.startTag(kind == html.SelfClosingTagToken)
		case html.EndTagToken:
			c.endTag()
		case html.DoctypeToken:
			if text := string(c.from.Text()); ordinaryDoctype.MatchString(text) {
				c.write("<!doctype ", text, ">")
			}
		case html.CommentToken: // including conditional comments; browsers do not show them
		}
	}
	return c.err
}

// cleaner is the state of cleaning one email.
type cleaner struct {
	appearance

	out    *bufio.Writer
	from   *html.Tokenizer
	within string // the element that contains the current raw text
	err    error
}

func (c *cleaner) write(parts ...string) {
	for _, part := range parts {
		if c.err == nil {
			_, c.err = c.out.WriteString(part)
		}
	}
}

func (c *cleaner) text() {
	text := c.from.Text()
	switch {
	case slices.Contains(unread, c.within):
	case c.within == "style":
		// CSS ignores HTML comment marks, which enclose old style sheets.
		sheet := bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("<!--"), nil), []byte("-->"), nil)
		c.write(strings.ReplaceAll(c.emulateSheet(string(sheet)), "<", `\3c `))
	default:
		c.write(html.EscapeString(string(text)))
	}
}

func (c *cleaner) startTag(closed bool) {
	tag, more := c.from.TagName()
	name := string(tag)
	switch {
	case name == "noscript": // scripts do not run here, so its content is shown
		c.from.NextIsNotRawText()
		return
	case slices.Contains(preformatted, name):
		c.within, name = name, "pre"
	default:
		c.within = name
	}
	if slices.Contains(removed, name) || !ordinaryName.MatchString(name) {
		return
	}
	attributes, refreshes := c.attributes(more)
	if name == "meta" && refreshes {
		return
	}
	c.write("<", name, attributes)
	if closed {
		c.write("/")
	}
	c.write(">")
}

func (c *cleaner) endTag() {
	tag, _ := c.from.TagName()
	name := string(tag)
	c.within = ""
	if slices.Contains(preformatted, name) {
		name = "pre"
	}
	if !slices.Contains(removed, name) && ordinaryName.MatchString(name) {
		c.write("</", name, ">")
	}
}

// attributes returns the attributes to keep, and whether one of them lets a meta element affect the document.
func (c *cleaner) attributes(more bool) (text string, refreshes bool) {
	var out strings.Builder
	for more {
		var key, value []byte
		key, value, more = c.from.TagAttr()
		name := string(key)
		refreshes = refreshes || name == "http-equiv"
		if !ordinaryName.MatchString(name) || c.drops(name, string(value)) {
			continue
		}
		out.WriteString(" " + name + `="` + html.EscapeString(c.emulateAttribute(name, string(value))) + `"`)
	}
	return out.String(), refreshes
}

func (c *cleaner) drops(name, value string) bool {
	switch {
	case strings.HasPrefix(name, "on"), name == "ping", name == "srcdoc":
		return true
	case slices.Contains(leading, name):
		return runs.MatchString(ignored.ReplaceAllString(value, ""))
	case slices.Contains(loading, name):
		return !c.pictures && elsewhere.MatchString(value) && !c.isOwnImage(name, value)
	}
	return false
}
