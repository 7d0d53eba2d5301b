package tracking

import (
	"strings"
	"unicode"
)

// scanText finds the http(s) URLs in plain text and returns the necessary edits. A URL ends where readers and
// mail programs expect it to: before spaces, quotes, angle brackets and punctuation of other scripts, and
// without the punctuation of the surrounding sentence.
func scanText(source string, track tracker) (edits []edit) {
	for at := 0; ; {
		found := nextScheme(source[at:])
		if found < 0 {
			return edits
		}
		start := at + found
		end := start + len(trimSentence(source[start:start+urlLength(source[start:])]))
		at = end
		if !atBoundary(source[:start]) {
			continue
		}
		if tracked, ok := track(source[start:end]); ok {
			edits = append(edits, edit{start, end, tracked})
		}
	}
}

// nextScheme finds http:// or https:// in any case.
func nextScheme(text string) int {
	for at := 0; ; {
		colon := strings.Index(text[at:], "://")
		if colon < 0 {
			return -1
		}
		colon += at
		for _, name := range []string{"https", "http"} {
			if start := colon - len(name); start >= at && strings.EqualFold(text[start:colon], name) {
				return start
			}
		}
		at = colon + len("://")
	}
}

// atBoundary reports whether a URL can begin after the text, which excludes xhttp://. In scripts without
// spaces, a URL may directly follow a word.
func atBoundary(before string) bool {
	if before == "" {
		return true
	}
	switch c := before[len(before)-1]; {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '+', c == '-', c == '.':
		return false
	}
	return true
}

func urlLength(text string) int {
	for i, r := range text {
		switch {
		case r <= ' ', r == 0x7f, strings.ContainsRune("<>\"`\\", r), r == unicode.ReplacementChar,
			r >= 0x80 && !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r) && !unicode.IsSymbol(r):
			return i
		}
	}
	return len(text)
}

// trimSentence removes trailing characters that belong to the sentence: a full stop, or a closing bracket that
// was opened before the URL.
func trimSentence(url string) string {
	var open [3]int // number of unclosed (, [ and {
	for i := range len(url) {
		if kind := strings.IndexByte("([{", url[i]); kind >= 0 {
			open[kind]++
		} else if kind := strings.IndexByte(")]}", url[i]); kind >= 0 {
			open[kind]--
		}
	}
	for len(url) > 0 {
		last := url[len(url)-1]
		switch kind := strings.IndexByte(")]}", last); {
		case strings.IndexByte(".,;:!?'*|", last) >= 0:
		case kind >= 0 && open[kind] < 0:
			open[kind]++
		default:
			return url
		}
		url = url[:len(url)-1]
	}
	return url
}
