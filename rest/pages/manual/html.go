package manual

import (
	"html"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// converter writes the Markdown of the manual as HTML: headings, paragraphs, lists, tables, code and links, which is
// all that its pages use. Everything else is escaped.
type converter struct {
	out   strings.Builder
	lines []string
	at    int
	link  func(target string) string // returns the URL of a link; empty: the link is omitted
}

// convert returns the HTML of a page.
func convert(markdown string, link func(string) string) string {
	c := &converter{lines: strings.Split(markdown, "\n"), link: link}
	for c.at < len(c.lines) {
		c.block(0)
	}
	return c.out.String()
}

var (
	headingLine = regexp.MustCompile(`^(#{1,4}) (.+)$`)
	itemLine    = regexp.MustCompile(`^( *)(-|\d+\.) (.*)$`)
	tableRule   = regexp.MustCompile(`^\|?[ :|-]+\|[ :|-]*$`)
	inlineParts = regexp.MustCompile("(`+)(.+?)`+" + `|\*\*(.+?)\*\*|!?\[([^\]]*)\]\(([^)\s]+)\)|<(https?://[^>\s]+)>`)
	emphasis    = regexp.MustCompile(`(^|[\s(])\*([^*\s][^*]*)\*`)
)

func (c *converter) write(parts ...string) {
	for _, part := range parts {
		c.out.WriteString(part)
	}
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// block writes the block that begins at the current line, whose content is indented by some columns.
func (c *converter) block(indent int) {
	line := c.lines[c.at]
	text := strings.TrimSpace(line)
	switch {
	case text == "":
		c.at++
	case strings.HasPrefix(text, "<!--"):
		c.comment()
	case strings.HasPrefix(text, "```"):
		c.fence(indent)
	case headingLine.MatchString(text):
		found := headingLine.FindStringSubmatch(text)
		tag := "h" + string(rune('0'+len(found[1])))
		c.write("<", tag, ` id="`, slug(found[2]), `">`, c.inline(found[2]), "</", tag, ">\n")
		c.at++
	case itemLine.MatchString(line):
		c.list(indentOf(line))
	case strings.HasPrefix(text, "|") && c.at+1 < len(c.lines) && tableRule.MatchString(strings.TrimSpace(c.lines[c.at+1])):
		c.table()
	case strings.HasPrefix(text, ">"):
		c.write("<blockquote><p>", c.inline(strings.TrimSpace(strings.TrimPrefix(text, ">"))), "</p></blockquote>\n")
		c.at++
	default:
		c.write("<p>", c.inline(c.paragraph()), "</p>\n")
	}
}

func (c *converter) comment() {
	for c.at < len(c.lines) {
		c.at++
		if strings.Contains(c.lines[c.at-1], "-->") {
			return
		}
	}
}

func (c *converter) fence(indent int) {
	c.write("<pre tabindex=\"0\"><code>")
	for c.at++; c.at < len(c.lines); c.at++ {
		line := c.lines[c.at]
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			c.at++
			break
		}
		c.write(html.EscapeString(line[min(indent, indentOf(line)):]), "\n")
	}
	c.write("</code></pre>\n")
}

// paragraph returns the lines up to the next block.
func (c *converter) paragraph() string {
	var text []string
	for ; c.at < len(c.lines); c.at++ {
		line := strings.TrimSpace(c.lines[c.at])
		if line == "" || strings.HasPrefix(line, "```") || len(text) > 0 && (itemLine.MatchString(c.lines[c.at]) || headingLine.MatchString(line)) {
			break
		}
		text = append(text, line)
	}
	return strings.Join(text, " ")
}

// list writes the items of a list at an indentation, with the blocks inside them.
func (c *converter) list(indent int) {
	tag := "ul"
	if found := itemLine.FindStringSubmatch(c.lines[c.at]); found[2] != "-" {
		tag = "ol"
	}
	c.write("<", tag, ">\n")
	for c.at < len(c.lines) {
		found := itemLine.FindStringSubmatch(c.lines[c.at])
		if found == nil || len(found[1]) != indent {
			break
		}
		inner := indent + len(found[2]) + 1
		c.lines[c.at] = strings.Repeat(" ", inner) + found[3]
		c.write("<li>", c.inline(c.itemText(inner)))
		for c.at < len(c.lines) && (strings.TrimSpace(c.lines[c.at]) == "" && c.continues(inner) || indentOf(c.lines[c.at]) >= inner && strings.TrimSpace(c.lines[c.at]) != "") {
			c.block(inner)
		}
		c.write("</li>\n")
	}
	c.write("</", tag, ">\n")
}

// itemText returns the first paragraph of an item.
func (c *converter) itemText(inner int) string {
	text := []string{strings.TrimSpace(c.lines[c.at])}
	for c.at++; c.at < len(c.lines); c.at++ {
		line := c.lines[c.at]
		if indentOf(line) < inner || strings.TrimSpace(line) == "" || itemLine.MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), "```") {
			break
		}
		text = append(text, strings.TrimSpace(line))
	}
	return strings.Join(text, " ")
}

// continues reports whether an item goes on after blank lines.
func (c *converter) continues(inner int) bool {
	for _, line := range c.lines[c.at:] {
		if strings.TrimSpace(line) != "" {
			return indentOf(line) >= inner
		}
	}
	return false
}

func (c *converter) table() {
	c.write("<div class=\"table\" tabindex=\"0\"><table>\n")
	for row := 0; c.at < len(c.lines) && strings.HasPrefix(strings.TrimSpace(c.lines[c.at]), "|"); row++ {
		if row != 1 { // the rule
			tag := "td"
			if row == 0 {
				tag = "th"
			}
			c.write("<tr>")
			for _, cell := range cellsOf(c.lines[c.at]) {
				c.write("<", tag, ">", c.inline(cell), "</", tag, ">")
			}
			c.write("</tr>\n")
		}
		c.at++
	}
	c.write("</table></div>\n")
}

// cellsOf splits a row at bars that are not escaped.
func cellsOf(row string) []string {
	const bar = "\x00"
	row = strings.ReplaceAll(strings.Trim(strings.TrimSpace(row), "|"), `\|`, bar)
	cells := strings.Split(row, "|")
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(cell), bar, "|")
	}
	return cells
}

// inline writes the marks inside a line: code, strong text, links and emphasis.
func (c *converter) inline(text string) string {
	var out strings.Builder
	for {
		found := inlineParts.FindStringSubmatchIndex(text)
		if found == nil {
			out.WriteString(plain(text))
			return out.String()
		}
		part := func(n int) string {
			if found[2*n] < 0 {
				return ""
			}
			return text[found[2*n]:found[2*n+1]]
		}
		out.WriteString(plain(text[:found[0]]))
		switch {
		case part(1) != "":
			out.WriteString("<code>" + html.EscapeString(strings.TrimSpace(part(2))) + "</code>")
		case part(3) != "":
			out.WriteString("<strong>" + c.inline(part(3)) + "</strong>")
		case part(6) != "":
			out.WriteString(`<a href="` + html.EscapeString(part(6)) + `">` + html.EscapeString(part(6)) + "</a>")
		case strings.HasPrefix(text[found[0]:], "!"): // the program has no pictures of the manual
		default:
			if to := c.link(part(5)); to != "" {
				out.WriteString(`<a href="` + html.EscapeString(to) + `">` + c.inline(part(4)) + "</a>")
			} else {
				out.WriteString(c.inline(part(4)))
			}
		}
		text = text[found[1]:]
	}
}

func plain(text string) string {
	return emphasis.ReplaceAllString(html.EscapeString(text), "$1<em>$2</em>")
}

// slug returns the anchor of a heading, as GitHub forms it.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// linkFrom returns the links of a page: to other pages of the manual, to anchors and to web sites.
func (h *handler) linkFrom(file string) func(string) string {
	return func(target string) string {
		if strings.HasPrefix(target, "#") || strings.HasPrefix(target, "https://") || strings.HasPrefix(target, "http://") {
			return target
		}
		to, anchor, _ := strings.Cut(target, "#")
		if anchor != "" {
			anchor = "#" + anchor
		}
		to = path.Join(path.Dir(file), to)
		if to == indexFile {
			return htmlPath + anchor
		}
		if name := path.Base(to); h.files[name] == to {
			return htmlPath + strings.TrimSuffix(name, ".md") + anchor
		}
		return ""
	}
}
