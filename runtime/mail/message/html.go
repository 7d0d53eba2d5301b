package message

import (
	"strings"

	"golang.org/x/net/html"
)

// TextOfHTML takes an HTML body and gives its text, each block on a line of its own. The title,
// styles and scripts are left out.
func TextOfHTML(s string) string {
	var out strings.Builder
	tokens := html.NewTokenizer(strings.NewReader(s))
	hidden := ""
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return out.String()
		case html.TextToken:
			if hidden == "" {
				out.WriteString(strings.ReplaceAll(string(tokens.Text()), "\n", " "))
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			token := tokens.Token()
			switch token.Data {
			case "style", "script", "title":
				hidden = ""
				if token.Type == html.StartTagToken {
					hidden = token.Data
				}
			case "br", "p", "div", "tr", "td", "li", "table", "h1", "h2", "h3", "pre", "blockquote":
				out.WriteByte('\n')
			}
		}
	}
}
