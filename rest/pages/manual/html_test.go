package manual

import (
	"strings"
	"testing"
)

func TestConvertsMarkdown(t *testing.T) {
	t.Parallel()
	link := func(to string) string {
		if name, found := strings.CutSuffix(to, ".md"); found {
			return "/manual/" + name
		}
		return ""
	}
	for markdown, want := range map[string]string{
		"# A `b` & c": `<h1 id="a-b--c">A <code>b</code> &amp; c</h1>`,
		"one\ntwo **three** [x](y.md) [z](z.yaml)": `<p>one two <strong>three</strong> <a href="/manual/y">x</a> z</p>`,
		"- a\n  b\n- c\n  - d\n\ntext":             "<ul>\n<li>a b</li>\n<li>c<ul>\n<li>d</li>\n</ul>\n</li>\n</ul>\n<p>text</p>",
		"1. a\n\n   ```sh\n   x < y\n   ```\n2. b": "<ol>\n<li>a<pre tabindex=\"0\"><code>x &lt; y\n</code></pre>\n</li>\n<li>b</li>\n</ol>",
		"| a | b |\n|---|---|\n| `x\\|y` | <b> |":  "<div class=\"table\" tabindex=\"0\"><table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td><code>x|y</code></td><td>&lt;b&gt;</td></tr>\n</table></div>",
		"```html\n<script>alert(1)</script>\n```":  "<pre tabindex=\"0\"><code>&lt;script&gt;alert(1)&lt;/script&gt;\n</code></pre>",
		"<!-- hidden\nstill -->\nshown <i>":        "<p>shown &lt;i&gt;</p>",
		"a *b* c * d":                              "<p>a <em>b</em> c * d</p>",
	} {
		if got := strings.TrimSpace(convert(markdown, link)); got != want {
			t.Errorf("%q is converted to\n%s\nwant\n%s", markdown, got, want)
		}
	}
}
