package tracking

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// noTrack is the attribute by which a sender excludes a link from tracking.
const noTrack = "data-no-track"

// tracker returns the tracked form of a link, or false to leave it unchanged.
type tracker func(written string) (tracked string, ok bool)

// scanHTML finds the necessary edits: the targets of links, if track is set. It also returns the end of the
// body, where an image can be inserted.
//
// The tokenizer is used only to find where tokens begin and end; everything that is not edited is copied from
// the source. It reads comments (including conditional comments for Outlook), scripts, styles, textareas and
// titles as single tokens, so links inside them are ignored.
func scanHTML(source string, track tracker) (edits []edit, end int) {
	z := html.NewTokenizer(strings.NewReader(source))
	at, body := 0, -1
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break // at the end of the source, possibly inside an unclosed tag
		}
		size := len(z.Raw())
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			if track == nil {
				break
			}
			if e, ok := editLink(source[at:at+size], z, track); ok {
				edits = append(edits, edit{at + e.start, at + e.end, e.with})
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); atom.Lookup(name) == atom.Body {
				body = at
			}
		case html.ErrorToken, html.TextToken, html.CommentToken, html.DoctypeToken:
		}
		at += size
	}
	if body >= 0 {
		return edits, body
	}
	return edits, at
}

// editLink changes the target of an <a> or <area>. The changed tag is parsed again; if anything but the target
// differs, the tag is left unchanged.
func editLink(tag string, z *html.Tokenizer, track tracker) (edit, bool) {
	name, more := z.TagName()
	if element := atom.Lookup(name); !more || (element != atom.A && element != atom.Area) {
		return edit{}, false
	}
	before := readAttributes(z)
	target := slices.IndexFunc(before, isHref) // the first one counts, as in browsers
	if target < 0 || slices.ContainsFunc(before, func(a html.Attribute) bool { return a.Key == noTrack }) {
		return edit{}, false
	}
	tracked, ok := track(before[target].Val)
	if !ok {
		return edit{}, false
	}
	start, end, ok := hrefValue(tag)
	if !ok {
		return edit{}, false
	}
	change := edit{start, end, tracked}
	after := html.NewTokenizer(strings.NewReader(applyEdits(tag, []edit{change})))
	if kind := after.Next(); kind != html.StartTagToken && kind != html.SelfClosingTagToken {
		return edit{}, false
	}
	if again, _ := after.TagName(); string(again) != string(name) {
		return edit{}, false
	}
	before[target].Val = tracked
	if !slices.Equal(before, readAttributes(after)) || after.Next() != html.ErrorToken {
		return edit{}, false
	}
	return change, true
}

func isHref(a html.Attribute) bool { return a.Key == "href" }

// readAttributes reads the attributes of the tokenizer's current tag.
func readAttributes(z *html.Tokenizer) []html.Attribute {
	var all []html.Attribute
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		if len(key) > 0 {
			all = append(all, html.Attribute{Key: string(key), Val: string(value)})
		}
	}
	return all
}

// hrefValue finds the value of the first href inside a raw tag, without quotes (HTML Standard, 13.2.5.32 to
// 13.2.5.38).
func hrefValue(tag string) (start, end int, ok bool) {
	i := 1
	for i < len(tag) && !isSpace(tag[i]) && tag[i] != '/' && tag[i] != '>' {
		i++ // tag name
	}
	for {
		for i < len(tag) && (isSpace(tag[i]) || tag[i] == '/') {
			i++
		}
		if i >= len(tag) || tag[i] == '>' {
			return 0, 0, false
		}
		name := i
		if tag[i] == '=' {
			i++ // a leading = is part of the name
		}
		for i < len(tag) && !isSpace(tag[i]) && tag[i] != '/' && tag[i] != '>' && tag[i] != '=' {
			i++
		}
		key := tag[name:i]
		start, end, i = attributeValue(tag, i)
		if strings.EqualFold(key, "href") {
			return start, end, start < end
		}
	}
}

// attributeValue returns the value of the attribute whose name ends at i, and the position after it.
func attributeValue(tag string, i int) (start, end, next int) {
	at := i
	for at < len(tag) && isSpace(tag[at]) {
		at++
	}
	if at >= len(tag) || tag[at] != '=' {
		return i, i, i // no value
	}
	at++
	for at < len(tag) && isSpace(tag[at]) {
		at++
	}
	if at < len(tag) && (tag[at] == '"' || tag[at] == '\'') {
		length := strings.IndexByte(tag[at+1:], tag[at])
		if length < 0 {
			return i, i, len(tag)
		}
		return at + 1, at + 1 + length, at + 1 + length + 1
	}
	start = at
	for at < len(tag) && !isSpace(tag[at]) && tag[at] != '>' {
		at++
	}
	return start, at, at
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\f' || c == '\r'
}
