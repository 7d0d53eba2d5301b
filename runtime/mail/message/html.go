package message

import (
	"strings"

	"golang.org/x/net/html"
)

// TextOfHTML returns the text of an HTML body, each block on its own line. Title, styles and scripts are
// omitted.
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
