package mailhtml

import (
	"bytes"
	"log"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/plaintext"
)

// receiptHTML is a template as its author writes it.
func receiptHTML(t testing.TB) string {
	t.Helper()
	source, err := os.ReadFile("testdata/receipt.html")
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

func TestInlineCSSKeepsLiquidAndMediaQueries(t *testing.T) { //nolint:paralleltest // reads the standard logger
	var said bytes.Buffer
	log.SetOutput(&said)
	defer log.SetOutput(os.Stderr)
	got, kept := InlineCSS(receiptHTML(t))
	if kept != "" {
		t.Fatal(kept)
	}
	expect.Golden(t, "inlined.html", got)
	if said.Len() > 0 {
		t.Errorf("the standard logger received %q", said.String())
	}
	for _, values := range []map[string]any{{}, {"vip": true, "amount": 500, "name": "a", "brand": "red",
		"items": []any{map[string]any{"name": "x", "price": 5}}}} {
		before, err := renderSource(t, receiptHTML(t), values)
		if err != nil {
			t.Fatal(err)
		}
		after, err := renderSource(t, got, values)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(plaintext.FromHTML(before), plaintext.FromHTML(after)); diff != "" {
			t.Errorf("inlining changed the text (-before +after):\n%s", diff)
		}
	}
}

// Golden files contain documents as their authors write them, and the inlined result or the reason why they are
// not inlined.
func TestInlineCSSMatchesGolden(t *testing.T) {
	t.Parallel()
	expect.GoldenCases(t, "html", func(_ *testing.T, input []byte) string {
		inlined, kept := InlineCSS(string(input))
		if kept != "" {
			return kept + "\n"
		}
		return inlined
	})
}

func renderSource(t testing.TB, source string, values map[string]any) (string, error) {
	t.Helper()
	p, err := language.HTML.Compile("html", source)
	if err != nil {
		return "", err
	}
	return p.Render(language.NewBudget(t.Context(), language.Locale{}), values)
}

func TestInlineCSSReturnsSourceUnchanged(t *testing.T) {
	t.Parallel()
	style := "<style>p { color: red }</style>"
	for source, want := range map[string]string{
		"<p>no style": "",
		style + `{% if a %}<div class="x">{% else %}<div class="y">{% endif %}</div>`: "would move",
		style + `<p>a{% if b %}</div>{% endif %}`:                                     "would move",
		"<style>{% if a %}p { color: red }{% endif %}</style><p>x":                    "{% tags %} inside <style>",
		"<style>@layer base { p { color: red } }</style><p>x":                         "@layer is not supported",
		"<style>p { color: red; &:hover { color: tan } }</style><p>x":                 "a rule inside of p is not supported",
		"<style>" + strings.Repeat("@media a{", 20) + "</style><p>x":                  "a rule inside of @media is not supported",
		"<style>" + strings.Repeat("p{color:red}", 20_000) + "</style>":               "too large",
		style + "<div></p></div>":                                                     "would move",
		style + strings.Repeat("<div>", 600) + "</div>":                               "cannot be parsed",
	} {
		got, kept := InlineCSS(source)
		if got != source || (want == "") != (kept == "") || !strings.Contains(kept, want) {
			t.Errorf("%.80q: %q, want %q; %t", source, kept, want, got == source)
		}
	}
	for _, source := range []string{
		style + "<ul><li>a<li>b</ul><p>x<p>y<table><tr><td>{{a}}<tr><td>b</table>",
		style + "{% if a %}<p>x</p>{% endif %}<p {{attributes}}>y</p><h{{n}}>x</h{{n}}>",
		`<p>{{a}}</p><STYLE>p { color: {{b}} }</STYLE>`,
		style + `<p pr-el-id="1">x</p><p pr-el-id="99">x</p>`,
	} {
		if got, kept := InlineCSS(source); kept != "" || !strings.Contains(got, `style="color:`) {
			t.Errorf("%s returned %q (%s)", source, got, kept)
		}
	}
}

func TestInlineCSSFollowsCascade(t *testing.T) {
	t.Parallel()
	for css, want := range map[string]string{
		"p{color:red}":                                             `style="color:red"`,
		"p{color:red;color:rgba(0,0,0,.5)}":                        `style="color:red;color:rgba(0,0,0,.5)"`,
		"p{color:red;color:red}.a{color:tan}":                      `style="color:tan"`,
		"p{COLOR:red ! Important}.a{color:blue}":                   `style="color:red !important"`,
		"p[id='#i']{color:blue}.a.b{color:red}p[class='.x.y.z']{}": `style="color:red"`,
		"p[class='a b'],p[title='x,y']{color:red}":                 `style="color:red"`,
		"p:not(.x,.y){color:red}":                                  `style="color:red"`,
		"[class*='a']{color:red}":                                  `style="color:red"`,
		"/* me@example.com */p{background:url(a@b.png)}":           `style="background:url(a@b.png)"`,
		"p{background:url(data:image/png;base64,iVB=)}":            `style="background:url(data:image/png;base64,iVB=)"`,
		"p{color:red;;;top:}":                                      `style="color:red"`,
		"p{--x:1px;*zoom:1;Mso-Line-Height-Rule:exactly}":          `style="--x:1px;*zoom:1;mso-line-height-rule:exactly"`,
		"p{ {{rules}} ;color:red}":                                 `style="{{rules}};color:red"`,
		"p{color:red}p{color:blue}":                                `style="color:blue"`,
		".a{color:red}p{color:blue}":                               `style="color:red"`,
		"#i{color:red}.a.b{color:blue}[id]{color:green}":           `style="color:red"`,
		"p{color:red !important}#i{color:blue}":                    `style="color:red !important"`,
		"p{color:red!important;color:blue}":                        `style="color:red !important"`,
		".a{color:red}[class]{color:blue}":                         `style="color:blue"`,
		"p{color:red;margin:0}.a{color:blue}":                      `style="margin:0;color:blue"`,
		"p,.a > b, div p{color:red}":                               `style="color:red"`,
		"p{width:20px;height:0;max-width:9px}":                     `style="width:20px;height:0;max-width:9px" width="20" height="0"`,
		"p{width:50%}":                                             `style="width:50%"`,
		"p{background:url('a;b{}.png')}":                           `style="background:url(&#39;a;b{}.png&#39;)"`,
		"/* p{color:blue} */p{color:red}":                          `style="color:red"`,
		"q,p:nth-child(1){color:red}":                              `style="color:red"`,
		"p[[{color:blue}p{color:red}":                              `style="color:red"`,
		"p{color:red}p:hover{color:blue}*{color:green}":            `style="color:red"`,
		"@media print{p{color:blue}}p{color:red}":                  `style="color:red"`,
		"p{color:red}</style><style media=print>p{color:blue}":     `style="color:red"`,
		"p{color:red}</style><style media=all>p{color:blue}":       `style="color:blue"`,
		"p{font-family:{{font}}}.a{color:{{color | default: 1}}}":  `style="font-family:{{font}};color:{{color | default: 1}}"`,
	} {
		got, kept := InlineCSS("<style>" + css + `</style><body><p id="i" class="a b">x</p>`)
		_, attributes, _ := strings.Cut(got, `<p id="i" class="a b" `)
		attributes, _, _ = strings.Cut(attributes, ">x")
		if kept != "" || attributes != want {
			t.Errorf("%s is inlined as %s (%s), want %s", css, attributes, kept, want)
		}
	}
	for source, want := range map[string]string{
		`<style>p{color:red;margin:0}</style><p style="color: blue">x</p>`:                               `<p style="margin:0;color:blue">x</p>`,
		`<style>p{color:red !important;margin:0}</style><p style="color: blue">x</p>`:                    `<p style="margin:0;color:red !important">x</p>`,
		`<style>p{color:red !important}</style><p style="color:blue !important">x</p>`:                   `<p style="color:blue !important">x</p>`,
		`<style>p{margin:0}</style><p style="background:#fff;background:linear-gradient(red,tan)">x</p>`: `<p style="margin:0;background:#fff;background:linear-gradient(red,tan)">x</p>`,
		`<style>p{margin:0}</style><p style="--x: 1px;*zoom:1;{{ own }}">x</p>`:                          `<p style="margin:0;--x:1px;*zoom:1;{{ own }}">x</p>`,
		`<style>p{margin:0}</style><p style="color:red;{% if a %}top:0{% endif %}">x</p>`:                `<p style="margin:0;color:red;{% if a %}top:0{% endif %}">x</p>`,
	} {
		if got, _ := InlineCSS(source); !strings.Contains(got, want) {
			t.Errorf("%s is inlined as %s, want %s", source, got, want)
		}
	}
}

// Inlining does not change whether a rule that stays in <style> wins over style attributes.
func TestKeptRulesKeepRank(t *testing.T) {
	t.Parallel()
	for css, want := range map[string]string{ // style attributes of <p class="a b"> and <p class="a">
		"@media screen{.a{color:red}}.a{color:blue}":                            "color:blue|color:blue",
		".a{color:blue}@media screen{.a{color:red}}":                            "color:blue|color:blue|red !important",
		".a{color:blue!important}@media screen{.a{color:red}}":                  "color:blue !important|color:blue !important",
		"@media screen{.a{color:red!important}}.a{color:blue}":                  "color:blue|color:blue|red !important",
		".a{color:blue!important}@media screen{.a{color:red!important}}":        "color:blue|color:blue|red !important",
		"@media screen{.a{color:red!important}}.a{color:blue!important}":        "color:blue !important|color:blue !important|red !important",
		".a{color:blue}@media screen{.a{color:red}}.b{color:green}":             "color:green !important|color:blue|red !important",
		"@media screen{.a{margin-top:red}}.a{margin:0}":                         "margin:0|margin:0",
		".a{margin:0}@media screen{.a{margin-top:red}}":                         "margin:0|margin:0|red !important",
		".a{font-weight:1}@media screen{.a{font-size:red}}":                     "font-weight:1|font-weight:1|red !important",
		".a{font-size:1px}@media screen{.a{color:red}}":                         "font-size:1px|font-size:1px|red !important",
		"p{color:blue}p:hover{color:red}":                                       "color:blue|color:blue|red !important",
		"p:hover{color:red}p{color:blue}":                                       "color:blue|color:blue|red !important",
		"p:hover{color:red}.a{color:blue}":                                      "color:blue|color:blue|red !important",
		"p.a:hover{color:red}#x .b,.a.b{color:blue}":                            "color:blue||red !important",
		"*{color:red}p{color:blue}":                                             "color:blue|color:blue",
		"@media screen{.a{color:red}}.a{color:blue}@media print{.a{color:tan}}": "color:blue|color:blue|tan !important",
	} {
		want, important, _ := strings.Cut(want, "||")
		if important == "" {
			if cut := strings.Split(want, "|"); len(cut) == 3 {
				want, important = cut[0]+"|"+cut[1], cut[2]
			}
		} else {
			want += "|"
		}
		got, kept := InlineCSS("<style>" + css + `</style><body><p class="a b">x</p><p class="a">x</p>`)
		var attributes []string
		for _, p := range strings.Split(got, `<p class="`)[1:] {
			_, value, _ := strings.Cut(p, `style="`)
			value, _, _ = strings.Cut(value, `"`)
			attributes = append(attributes, value)
		}
		_, sheet, _ := strings.Cut(got, "<style")
		sheet, _, _ = strings.Cut(sheet, "</style>")
		joined := strings.Join(attributes, "|")
		if kept != "" || joined != want || strings.Contains(sheet, "!important") != (important != "") ||
			!strings.Contains(sheet, important) {
			t.Errorf("%s became %q (%s) with the sheet %s, want %q and important: %q", css, joined, kept, sheet, want,
				important)
		}
	}
	own, _ := InlineCSS(`<style>@media screen{p{color:red}}</style><p style="color:blue">x</p>`)
	if !strings.Contains(own, `<p style="color:blue">`) || strings.Contains(own, "!important") {
		t.Errorf("an element with a style attribute became %s, want its style to win", own)
	}
}

func TestKeptRulesAreComplete(t *testing.T) {
	t.Parallel()
	for css, want := range map[string]string{
		"@import url(a.css) print;":                        "@import url(a.css) print;\n",
		"@font-face { font-family: A; src: url(a) }":       "@font-face { font-family: A; src: url(a) }\n",
		"@keyframes k { from { top: 0 } to {top:1px} }":    "@keyframes k { from { top: 0 } to {top:1px} }\n",
		"@media print { p { color: red } }":                "@media print{\np {\ncolor: red !important\n}\n}\n",
		"a:hover, p { color: red }":                        "a:hover {\ncolor: red !important\n}",
		"@media screen{@media (width){p{color:red}}}":      "@media screen{\n@media (width){\np {\ncolor: red !important\n}\n}\n}\n",
		"@media screen{@font-face{src:url(a)}}":            "@media screen{\n@font-face {src:url(a)}\n}\n",
		"@supports (color:red){p{color:red}}":              "@supports (color:red){\np {\ncolor: red !important\n}\n}\n",
		"p{top:0}@media a{}</style><style>@import url(b);": "@import url(b);\n@media a{\n\n}\n",
		// elements and classes that come from values or from the mail program
		"#outlook a{padding:0}":  "#outlook a {\npadding: 0 !important\n}",
		".from-value{color:red}": ".from-value {\ncolor: red !important\n}",
		"th{color:red}":          "",
		":is(h1,p){color:red}":   ":is(h1,p) {\ncolor: red !important\n}",
		"p[[{color:red}":         "",
		// a sheet for some media is like a rule for them
		"p{top:0}</style><style media=\"print\">p{top:1px}": "@media print{\np {\ntop: 1px !important\n}\n}\n",
	} {
		got, kept := InlineCSS("<style>" + css + "</style><p>x</p>")
		_, rest, _ := strings.Cut(got, `<style type="text/css">`)
		rest, _, _ = strings.Cut(rest, "</style>")
		if diff := cmp.Diff(want, rest); diff != "" || kept != "" {
			t.Errorf("%s was kept as (%s; -want +got):\n%s", css, kept, diff)
		}
	}
}

func TestInlineCSSLimitsTime(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"<style>" + strings.Repeat("p p p p p{color:red}", 500) + "</style>" + strings.Repeat("<p>x</p>", 10_000),
		"<style>" + strings.Repeat("a,b,c,", 2_000) + "d{color:red}</style>" + strings.Repeat("<p>x</p>", 10_000),
		"<style>p{" + strings.Repeat("color:red;", 15_000) + "}</style>" + strings.Repeat("<p>x</p>", 1_000),
		"<style>.none ~ p ~ p ~ p ~ p ~ p{color:red}</style>" + strings.Repeat("<p>x</p>", 300),
		"<style>.none div div div div div div div p{color:red}</style>" + strings.Repeat("<div>", 200) + "<p>x</p>" +
			strings.Repeat("</div>", 200),
		"<style>" + strings.Repeat("p:nth-last-child(2n+1){color:red}", 900) + "</style>" +
			strings.Repeat("<p>x</p>", 2_500),
		"<style>div:has(div:has(div:has(div:has(.none)))){color:red}</style>" +
			strings.Repeat("<div>", 200) + strings.Repeat("</div>", 200),
		"<style>p{", "<style>@media", "<style>p{color", "<style>@media x{p{", "<style>@import", "<style>@font-face",
		"<style>p{color:", "<style>}}}}{{",
	} {
		var kept any
		if took := expect.MeasureCPU(t, func() { _, kept = InlineCSS(source) }); took > 5*time.Second {
			t.Errorf("%.60q took %s (%s)", source, took, kept)
		}
	}
}
