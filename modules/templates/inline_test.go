package templates

import (
	"bytes"
	"log"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/expect"
)

const receiptHTML = `<!DOCTYPE html>
<html><head><title>{{subject_line}}</title>
<style>
  .total { color: {{brand}}; font-weight: bold !important }
  td, th { padding: 4px; background-color: #eee }
  a:hover { color: red }
  @media (max-width: 600px) { .total { font-size: 20px } }
</style></head>
<body>
<!--[if mso]><p>Outlook {{name}}</p><![endif]-->
<![if !mso]><p>Not Outlook</p><![endif]>
<h1>Hi {{ name | default: "you" }}, thanks</h1>
<p {% if vip %}class="total"{% endif %} style="margin: 0; color: {{brand}}">You pay {{ amount }}.</p>
{% if amount > 100 and name < "n" %}<p class="total">A lot &amp; more</p>{% endif %}
<table>
{% for item in items %}
<tr><td class="total">{{ item.name }}</td><td>{{ item.price }}</td></tr>
{% else %}<tr><td>Nothing</td></tr>
{% endfor %}
</table>
<p><a href="{{ url | append: "?x=1" }}" title='{{ "a>b" }}'>Look</a> or <a href="{{unsubscribe_url}}">unsubscribe</a></p>
{% raw %}{{ as it is }}{% endraw %}
</body></html>
`

func TestInliningKeepsLiquidAndMediaQueries(t *testing.T) { //nolint:paralleltest // looks at the standard logger
	var said bytes.Buffer
	log.SetOutput(&said)
	defer log.SetOutput(os.Stderr)
	got, kept := inlineCSS(receiptHTML)
	if kept != "" {
		t.Fatal(kept)
	}
	expect.Golden(t, "inlined.html", got)
	if said.Len() > 0 {
		t.Errorf("the standard logger was told %q", said.String())
	}
	for _, values := range []map[string]any{{}, {"vip": true, "amount": 500, "name": "a", "brand": "red", "items": []any{object{"name": "x", "price": 5}}}} {
		before, err := fillWith(t, htmlEngine, receiptHTML, values)
		if err != nil {
			t.Fatal(err)
		}
		after, err := fillWith(t, htmlEngine, got, values)
		if err != nil {
			t.Fatal(err)
		}
		if words(before) != words(after) {
			t.Errorf("another text:\n%s\n%s", words(before), words(after))
		}
	}
}

// words is what a reader sees of rendered html.
func words(source string) string {
	text, err := plainText(strings.NewReplacer("{", "", "}", "").Replace(source))
	if err != nil {
		return err.Error()
	}
	return text
}

func TestInliningLeavesAlone(t *testing.T) {
	t.Parallel()
	style := "<style>p { color: red }</style>"
	for source, want := range map[string]string{
		"<p>no style": "",
		style + `{% if a %}<div class="x">{% else %}<div class="y">{% endif %}</div>`: "would change their places",
		style + `<p>a{% if b %}</div>{% endif %}`:                                     "would change their places",
		"<style>{% if a %}p { color: red }{% endif %}</style><p>x":                    "{% tags %} inside <style>",
		"<style>@supports (color: red) { p { color: red } }</style><p>x":              "@supports is not understood",
		"<style>" + strings.Repeat("p{color:red}", 20_000) + "</style>":               "too much",
		style + "<div></p></div>":                                                     "would change their places",
		style + strings.Repeat("<div>", 600) + "</div>":                               "cannot be read",
		style + `<p pr-el-id="1">x</p><p pr-el-id="99">x</p>`:                         "cannot be read",
	} {
		got, kept := inlineCSS(source)
		if got != source || (want == "") != (kept == "") || !strings.Contains(kept, want) {
			t.Errorf("%.80q: %q, want %q; %t", source, kept, want, got == source)
		}
	}
	for _, source := range []string{
		style + "<ul><li>a<li>b</ul><p>x<p>y<table><tr><td>{{a}}<tr><td>b</table>",
		style + "{% if a %}<p>x</p>{% endif %}<p {{attributes}}>y</p><h{{n}}>x</h{{n}}>",
		`<p>{{a}}</p><STYLE>p { color: {{b}} }</STYLE>`,
	} {
		if got, kept := inlineCSS(source); kept != "" || !strings.Contains(got, `style="color:`) {
			t.Errorf("%s gives %q (%s)", source, got, kept)
		}
	}
}

func TestTextPartIsMadeFromHTML(t *testing.T) {
	t.Parallel()
	got, err := plainText(receiptHTML)
	if err != nil {
		t.Fatal(err)
	}
	expect.Golden(t, "made.txt", got+"\n")
	for source, want := range map[string]string{
		`<p>Hello {{name}}, welcome</p>`:                         "Hello {{name}}, welcome",
		`<a href="{{url}}">{{url}}</a>`:                          "{{url}}",
		`<a href="{{unsubscribe_url}}">Leave</a>`:                "Leave ( {{unsubscribe_url}} )",
		`<ul>{% for i in l %}<li>{{i}}</li>{% endfor %}</ul>`:    "{% for i in l %} * {{i}}\n{% endfor %}",
		`<p>a<!-- not this --></p><img alt="x" src="{{logo}}">b`: "a\n\nb",
		`<img src="a">`: "",
	} {
		if got, err := plainText(source); err != nil || got != want {
			t.Errorf("%s gives %q (%v), want %q", source, got, err, want)
		}
	}
}

func TestInliningIsBoundedInTime(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"<style>" + strings.Repeat("p p p p p{color:red}", 500) + "</style>" + strings.Repeat("<p>x</p>", 10_000),
		"<style>" + strings.Repeat("a,b,c,", 2_000) + "d{color:red}</style>" + strings.Repeat("<p>x</p>", 10_000),
		"<style>p{" + strings.Repeat("color:red;", 15_000) + "}</style>" + strings.Repeat("<p>x</p>", 1_000),
		"<style>p{", "<style>@media", "<style>p{color", "<style>@media x{p{", "<style>@import", "<style>@font-face", "<style>p{color:", "<style>}}}}{{",
	} {
		began := time.Now()
		_, kept := inlineCSS(source)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%.60q took %s (%s)", source, took, kept)
		}
	}
}

func FuzzPublish(f *testing.F) {
	f.Add(receiptHTML)
	f.Add("<style>p{color:red}</style><p {% if a %}b{% endif %}>{{c}}")
	f.Add("<style>@media x{p{color:red}}</style><table>{% for a in b %}<tr>{% endfor %}")
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 4096 {
			return
		}
		if _, err := htmlEngine.compile("html", source); err != nil {
			return
		}
		v, err := newVersionOf(content{html: source})
		if err != nil {
			return
		}
		if _, err := htmlEngine.compile("html", v.content.html); err != nil {
			t.Errorf("%q was published as %q: %v", source, v.content.html, err)
		}
	})
}
