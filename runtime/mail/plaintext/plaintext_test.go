package plaintext

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTextOfHTML(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"":                                     "",
		"Hello":                                "Hello",
		"<p>Hello <b>Bob</b>,</p><p>Bye</p>":   "Hello Bob,\n\nBye",
		"<p>a<br>b<br/>c<br><br><br><br>d</p>": "a\nb\nc\n\nd",
		" <div> a </div>\n<div>b</div> ":       "a\nb",
		"f<i>o</i>o  \n bar":                   "foo bar",
		"<ul><li>one<li>two</ul>after":         "- one\n- two\n\nafter",
		"<table><tr><td>Tea</td><td>2.00</td></tr><tr><td>Milk</td><td>1.00</td></tr></table>": "Tea 2.00\nMilk 1.00",
		`<a href="https://e.com/x?a=1&amp;b=2">Pay now</a>.`:                                   "Pay now (https://e.com/x?a=1&b=2).",
		`<a href="https://e.com/">https://e.com/</a> <a href="https://e.com">e.com</a>`:        "https://e.com/ e.com",
		`<a href="mailto:help@e.com?subject=x">Write</a>`:                                      "Write (help@e.com)",
		`<a href="#top">Up</a><a href="javascript:x()">Run</a>`:                                "UpRun",
		`<a href="https://e.com/"><img src="x.png" alt="Logo"></a>`:                            "Logo (https://e.com/)",
		`<a href="https://e.com/"><img src="x.png"></a>`:                                       "(https://e.com/)",
		"<head><title>T</title><style>p{}</style></head><body>B<script>1<2</script></body>":    "B",
		"a<!-- no -->b<?php x ?>":                                                              "ab",
		"<pre>  a\n    b</pre>c":                                                               "a\n    b\n\nc",
		"1 &lt; 2 &amp;&amp; 3&nbsp;&gt; 2 &euro;5":                                            "1 < 2 && 3 > 2 €5",
		"<hr>x<hr>": "---\nx\n---",
		"<h1>Title</h1>text<blockquote>q</blockquote>": "Title\n\ntext\n\nq",
		"<p>never closed <b>bold":                      "never closed bold",
		"<style>p{}":                                   "",
	} {
		if got := FromHTML(source); got != want {
			t.Errorf("the text of %q is %q, want %q", source, got, want)
		}
	}
}

func TestHiddenTextIsLeftOut(t *testing.T) {
	t.Parallel()
	pad := strings.Repeat("&nbsp;&zwnj;&#8203;&#8205;&#8206;&#8207;&#65279; ", 40)
	for source, want := range map[string]string{
		`<div style="display:none">Preview<div>more</div></div><p>Hello</p>`:     "Hello",
		`<div style="DISPLAY : none !important;max-height:0">Preview</div>Hello`: "Hello",
		`<span style="visibility: hidden">no</span>yes`:                          "yes",
		`<p hidden>no<p>yes`:                                                                        "yes",
		`<div><p hidden>no</div><div>yes</div>`:                                                     "yes",
		`<div aria-hidden="true">no</div><i aria-hidden="false">yes</i>`:                            "yes",
		`<div data-skip-in-text="true">no` + pad + `</div>yes`:                                      "yes",
		`<div style="opacity:0;overflow:hidden">no</div>yes`:                                        "yes",
		`<span style="font-size:0">no</span><span style="font-size:0px;line-height:0">no</span>yes`: "yes",
		`<div style="font-size:0px"><div style="font-size:13px">yes</div> no</div>`:                 "yes",
		`<td style="font-size:0.5em">yes</td>`:                                                      "yes",
		`<div>Preview` + pad +
			`&#847;&zwnj;&nbsp;&#847;</div><p>Hello</p>`: "Preview\n\nHello",
		`<a href="https://e.com" style="display:none">no</a><a href="https://e.com/b">yes</a>`:           "yes (https://e.com/b)",
		`<img src="a.png" alt="no" style="display:none"><img src="b.png" alt="yes">`:                     "yes",
		`<table style="display:none"><tr><td><table><tr><td>no</td></tr></table>no</td></tr></table>yes`: "yes",
		`<div style="max-height:0;overflow:hidden">no</div><div style="max-height:0.5em">yes</div>`:      "yes",
		`<div style="display:none"><p>a<p>b</div>yes`:                                                    "yes",
		"<p>family: \U0001F468\u200D\U0001F469\u200D\U0001F467</p>":                                      "family: \U0001F468\u200D\U0001F469\u200D\U0001F467",
	} {
		if got := FromHTML(source); got != want {
			t.Errorf("the text of %.200q is %q, want %q", source, got, want)
		}
	}
}

// HTML is untrusted, so the time it takes must depend only on its length.
func TestDeeplyNestedHTMLTakesLinearTime(t *testing.T) {
	t.Parallel()
	for _, open := range []string{"<div>", "<b>", "<a href=https://e.com>", "<table><tr><td>", "<pre>", "<ul><li>",
		"<p style='font-size:9px'>", "<div style='font-size:9px'>"} {
		source := strings.Repeat(open, (1<<20)/len(open)) + "end"
		if got := FromHTML(source); !strings.Contains(got, "end") {
			t.Errorf("the text of a million bytes of %s lost its last word", open)
		}
	}
}

func FuzzFromHTML(f *testing.F) {
	f.Add("<p>a</p>")
	f.Add("<a href='https://e.com'>x<style>")
	f.Add("<pre>\xff\n<li><br>&#0;")
	f.Fuzz(func(t *testing.T, source string) {
		got := FromHTML(source)
		if got != strings.TrimSpace(got) || strings.Contains(got, "\n\n\n") && !strings.Contains(source, "\n\n\n") {
			t.Errorf("the text of %q is %q, want no white space at its ends and no gap of two lines", source, got)
		}
		if utf8.ValidString(source) && !utf8.ValidString(got) {
			t.Errorf("the text of valid UTF-8 is %q", got)
		}
	})
}
