package plaintext

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSnippet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, html, want string }{
		"text":                      {"Hello Bob,\r\n\r\n\tyour  receipt.\n", "<p>Other</p>", "Hello Bob, your receipt."},
		"text that looks like HTML": {"a <b>c</b> &amp; d", "", "a <b>c</b> &amp; d"},
		"HTML without text": {"",
			"<html><head><title>T</title><style>p{}</style></head><body><h1>Hi</h1><p>See <a href='https://example.com/x'>this</a>.</p></body></html>", "Hi See this."},
		"blank text":             {" \n\u00a0", "<p>Shown</p>", "Shown"},
		"cells and lines":        {"", "<table><tr><td>a</td><td>b</td></tr><tr><td>c<br>d</td></tr></table>", "a b c d"},
		"a word across elements": {"", "wo<b>r</b><i>d</i>", "word"},
		"scripts": {"",
			"<script>alert(1)</script><img src=x onerror=alert(1)><svg onload=alert(2)>Hi<scr<script>ipt>alert(3)</script>", "Hiipt>alert(3)"},
		"entities are text":     {"", "&lt;script&gt;alert(1)&lt;/script&gt;", "<script>alert(1)</script>"},
		"a head without an end": {"", "<head><meta charset=utf-8><body>Hi", "Hi"},
		"cut within a tag":      {"", `<p>Hi <a href="https://exam`, "Hi"},
		"cut within a style":    {"", `<style>p { color: r`, ""},
		"comments":              {"", "<!-- no --><![CDATA[no]]><!doctype html>yes<!-- unended", "yes"},
		"padding of mail": {"",
			"<div>Sale!</div><div>&#847;&zwnj;&nbsp;&#847;&zwnj;&nbsp;&#8199;&shy;&#8203;</div><p>Now</p>",
			"Sale! Now"},
		"direction overrides":                  {"a\u202eb\u2066c\u200f", "", "abc"},
		"control characters and invalid bytes": {"a\x00b\x1b[31mc\xff", "", "ab[31mc"},
		"line drawing":                         {"*********\nThank you\n*********\n\n───── ═══\n~~~ --\n- 20 € *off*\n🎉\n", "", "Thank you - 20 € *off* 🎉"},
		"joined emoji":                         {"👨\u200d👩\u200d👧 Hi", "", "👨\u200d👩\u200d👧 Hi"},
		"joined words":                         {"می\u200cخواهم", "", "می\u200cخواهم"},
		"nothing":                              {"", "", ""},
		"hidden text for previews":             {"", `<div style="display:none">Your code is 123</div><p>Dear Bob`, "Your code is 123 Dear Bob"},
		"a template and a text field":          {"", `<template>no</template><textarea>no</textarea><select><option>no</select>yes`, "yes"},
	} {
		if got := Snippet(c.text, c.html, 140); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestSnippetLengthIsLimited(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{strings.Repeat("ü", 200), strings.Repeat("ü", 140)},
		{strings.Repeat("a ", 200), strings.Repeat("a ", 69) + "a"},
		{"<p>" + strings.Repeat("x", 139) + "<p>y", strings.Repeat("x", 139)},
	} {
		for _, got := range []string{Snippet("", c.in, 140), Snippet(strings.ReplaceAll(c.in, "<p>", " "), "", 140)} {
			if got != c.want || utf8.RuneCountInString(got) > 140 {
				t.Errorf("%.20s…: %q, want %q", c.in, got, c.want)
			}
		}
	}
}

// A snippet is one line of valid text, whatever the HTML contains.
func FuzzSnippet(f *testing.F) {
	f.Add("", "<p>Hi</p>")
	f.Add("\u200d \u202e", "<head><style></styl")
	f.Fuzz(func(t *testing.T, text, html string) {
		got := Snippet(text, html, 20)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > 20 || strings.ContainsAny(got, "\n\r\t\x00\u202e") ||
			got != strings.TrimSpace(got) {
			t.Errorf("the snippet of %q and %q is %q, want a line of valid text, at most 20 characters",
				text, html, got)
		}
	})
}
