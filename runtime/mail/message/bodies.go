package message

import (
	"html"
	"strings"
)

// bodyNode is a text of the message, or a multipart with the texts in it.
type bodyNode struct {
	leaf        *body // nil for a multipart
	alternative bool  // its parts have the same content
	parts       []*bodyNode
}

func (n *bodyNode) add(part *bodyNode) { n.parts = append(n.parts, part) }

// variants are a text and the same as HTML. One that does not exist is nil.
type variants struct{ text, html *string }

// decodeBodies decodes the bodies into Text and HTML.
func (p *parser) decodeBodies() {
	if len(p.text)+len(p.html)+len(p.out.Files) == 0 && len(p.preamble.data) > 0 {
		p.addBody(&body{buffer: p.preamble})
	}
	if p.joins {
		p.out.Text, p.out.HTML = p.joinBodies(p.text, whichText), p.joinBodies(p.html, whichHTML)
		return
	}
	v := p.decodeNode(p.bodies)
	if v.text != nil {
		p.out.Text = truncateText(*v.text, p.maxText)
	}
	if v.html != nil {
		p.out.HTML = truncateText(*v.html, p.maxText)
	}
}

// How sentences in Defects begin.
const (
	whichText = "The text"
	whichHTML = "The HTML"
)

// addBody adds a text part to the bodies.
func (p *parser) addBody(b *body) {
	if b.html {
		p.html = append(p.html, b)
	} else {
		p.text = append(p.text, b)
	}
	p.within.add(&bodyNode{leaf: b})
}

// decodeNode decodes a text, or the texts of a multipart.
func (p *parser) decodeNode(n *bodyNode) variants {
	switch {
	case n.leaf != nil && n.leaf.html:
		text := p.decodeBody(n.leaf, whichHTML)
		return variants{html: &text}
	case n.leaf != nil:
		text := p.decodeBody(n.leaf, whichText)
		return variants{text: &text}
	}
	var list []variants
	for _, part := range n.parts {
		if v := p.decodeNode(part); v != (variants{}) {
			list = append(list, v)
		}
	}
	if n.alternative {
		return p.joinAlternatives(list)
	}
	return p.joinInline(list)
}

// joinAlternatives joins the parts of a multipart/alternative. Usually it has one of each kind.
func (p *parser) joinAlternatives(list []variants) variants {
	var texts, htmls []string
	for _, v := range list {
		if v.text != nil {
			texts = append(texts, *v.text)
		}
		if v.html != nil {
			htmls = append(htmls, *v.html)
		}
	}
	return variants{text: p.joinTexts(texts, whichText), html: p.joinTexts(htmls, whichHTML)}
}

// joinInline joins the texts of another multipart, which are all part of the body (RFC 2046, 5.1.3): the pieces that
// some programs write around a picture, or the footer of a mailing list. If the first has only HTML, there is no text,
// because a footer alone is not the text of the message.
func (p *parser) joinInline(list []variants) variants {
	if len(list) > 1 {
		list = withoutBlank(list)
	}
	if len(list) == 0 {
		return variants{}
	}
	if len(list) == 1 {
		return list[0]
	}
	hasHTML := false
	for _, v := range list {
		hasHTML = hasHTML || v.html != nil
	}
	var texts, htmls []string
	for _, v := range list {
		switch {
		case v.text != nil && v.html != nil:
			texts, htmls = append(texts, *v.text), append(htmls, *v.html)
		case v.text != nil:
			texts, htmls = append(texts, *v.text), append(htmls, htmlOfText(*v.text))
		default:
			texts, htmls = append(texts, TextOfHTML(*v.html)), append(htmls, *v.html)
		}
	}
	var out variants
	if list[0].text != nil {
		out.text = p.joinTexts(texts, whichText)
	}
	if hasHTML {
		out.html = p.joinTexts(htmls, whichHTML)
	}
	return out
}

// withoutBlank drops the empty texts that some programs write after a file, unless nothing else is there.
func withoutBlank(list []variants) (out []variants) {
	for _, v := range list {
		if !isBlank(v.text) || !isBlank(v.html) {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		return list[:1]
	}
	return out
}

func isBlank(text *string) bool { return text == nil || strings.TrimSpace(*text) == "" }

// joinTexts joins texts in order, and records that in Defects.
func (p *parser) joinTexts(texts []string, which string) *string {
	switch len(texts) {
	case 0:
		return nil
	case 1:
		return &texts[0]
	}
	p.recordDefect("%s is joined from %d parts.", which, len(texts))
	joined := strings.Join(texts, "\n")
	return &joined
}

// htmlOfText returns a text as HTML, with its line breaks.
func htmlOfText(text string) string {
	return `<pre style="white-space: pre-wrap">` + html.EscapeString(text) + "</pre>"
}
