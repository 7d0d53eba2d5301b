package bimi

import (
	"slices"
	"strings"
	"testing"
)

const goodLogo = `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" version="1.2" baseProfile="tiny-ps" viewBox="0 0 512 512">
  <title>Example</title>
  <defs><linearGradient id="g"><stop offset="0" stop-color="#fff"/></linearGradient></defs>
  <rect width="512" height="512" fill="url(#g)"/><use xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="#g"/>
</svg>`

// states returns the state of each finding by its code.
func states(list []Finding) map[string]string {
	out := map[string]string{}
	for _, f := range list {
		out[f.Code] = f.State
	}
	return out
}

func find(t *testing.T, list []Finding, code string) Finding {
	t.Helper()
	i := slices.IndexFunc(list, func(f Finding) bool { return f.Code == code })
	if i < 0 {
		t.Fatalf("no finding %s in %+v", code, list)
	}
	return list[i]
}

func TestGoodLogoMeetsEverything(t *testing.T) {
	t.Parallel()
	for _, f := range checkLogo([]byte(goodLogo)) {
		if f.State != Met || f.Fix != "" || f.Found == "" {
			t.Errorf("got %+v, want it met", f)
		}
	}
}

func TestBadLogos(t *testing.T) {
	t.Parallel()
	replace := func(old, by string) string { return strings.Replace(goodLogo, old, by, 1) }
	inside := func(text string) string { return replace("</svg>", text+"</svg>") }
	for name, c := range map[string]struct{ logo, code, says string }{
		"no profile":         {replace(` baseProfile="tiny-ps"`, ""), "logo_profile", `baseProfile ""`},
		"SVG Tiny":           {replace("tiny-ps", "tiny"), "logo_profile", `"tiny"`},
		"another version":    {replace(`version="1.2"`, `version="1.1"`), "logo_profile", `"1.1"`},
		"not square":         {replace("0 0 512 512", "0 0 512 300"), "logo_shape", "not square"},
		"no viewBox":         {replace(`viewBox="0 0 512 512"`, ""), "logo_shape", "no viewBox"},
		"broken viewBox":     {replace("0 0 512 512", "0 0 NaN NaN"), "logo_shape", "invalid"},
		"long viewBox":       {replace("0 0 512 512", "0 0 1 1 1 1"), "logo_shape", "invalid"},
		"empty viewBox":      {replace("0 0 512 512", "0 0 0 0"), "logo_shape", "invalid"},
		"no title":           {replace("<title>Example</title>", ""), "logo_title", "no title"},
		"empty title":        {replace("Example", " "), "logo_title", "no title"},
		"two titles":         {inside("<title>B</title>"), "logo_title", "2 titles"},
		"nested title":       {replace("<title>Example</title>", "<g><title>B</title></g>"), "logo_title", "no title"},
		"script":             {inside("<script>alert(1)</script>"), "logo_content", `"script"`},
		"animation":          {inside(`<rect><animate attributeName="x"/></rect>`), "logo_content", `"animate"`},
		"image":              {inside(`<image href="data:image/png;base64,AA"/>`), "logo_content", `"image"`},
		"foreign object":     {inside(`<foreignObject/>`), "logo_content", `"foreignObject"`},
		"another namespace":  {inside(`<b xmlns="http://www.w3.org/1999/xhtml"/>`), "logo_content", "another namespace"},
		"nested svg":         {inside(`<svg/>`), "logo_content", `"svg"`},
		"external use":       {inside(`<use href="https://tracker.example/a.svg#b"/>`), "logo_content", "tracker.example"},
		"external fill":      {inside(`<rect fill="red url( 'https://tracker.example/#a')"/>`), "logo_content", "tracker.example"},
		"second url":         {inside(`<rect fill="url(#g) URL(//tracker.example)"/>`), "logo_content", "tracker.example"},
		"event":              {inside(`<rect onload="alert(1)"/>`), "logo_content", "event handler"},
		"style":              {inside(`<rect style="fill:red"/>`), "logo_content", `"style"`},
		"style element":      {inside(`<style>@import url(x)</style>`), "logo_content", `"style"`},
		"root with x":        {replace(`viewBox`, `x="0" viewBox`), "logo_content", `"x" of the root`},
		"root with y":        {replace(`viewBox`, `y="0" viewBox`), "logo_content", `"y" of the root`},
		"style sheet":        {replace("<svg", `<?xml-stylesheet href="a.css"?><svg`), "logo_content", "xml-stylesheet"},
		"not XML":            {"GIF89a", "logo_content", "not an SVG image"},
		"cut off":            {goodLogo[:200], "logo_content", "not an SVG image"},
		"empty":              {"", "logo_content", "no elements"},
		"HTML":               {"<html/>", "logo_content", "root"},
		"no namespace":       {replace(` xmlns="http://www.w3.org/2000/svg"`, ""), "logo_content", "root"},
		"another encoding":   {replace("UTF-8", "ISO-8859-1"), "logo_content", "UTF-8"},
		"unknown entity":     {replace("Example", "&brand;"), "logo_content", "invalid"},
		"entity declaration": {replace("<svg", `<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><svg`), "logo_content", "declarations"},
		"deep":               {inside(strings.Repeat("<g>", 100) + strings.Repeat("</g>", 100)), "logo_content", "nested"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := find(t, checkLogo([]byte(c.logo)), c.code)
			if f.State != Broken || f.Fix == "" || !strings.Contains(f.Found, c.says) {
				t.Errorf("got %+v, want it broken with %q", f, c.says)
			}
		})
	}
}

func TestLogosWithHarmlessExtrasPass(t *testing.T) {
	t.Parallel()
	extras := strings.NewReplacer("<svg ", `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><svg `,
		"<title>", `<metadata><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></metadata><title>`,
		"<rect", `<rect xmlns:i="http://www.inkscape.org/" i:label="a" xml:space="preserve"`).Replace(goodLogo)
	for code, state := range states(checkLogo([]byte(extras))) {
		if state != Met {
			t.Errorf("%s is %s", code, state)
		}
	}
	long := strings.Replace(goodLogo, "Example", strings.Repeat("é", 65), 1)
	if f := find(t, checkLogo([]byte(long)), "logo_title"); f.State != Close {
		t.Errorf("a title with 65 characters is %+v, want it close", f)
	}
}

func FuzzLogo(f *testing.F) {
	f.Add([]byte(goodLogo))
	f.Add([]byte("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0,0,1e999,1'/>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, finding := range checkLogo(data) {
			if finding.Found == "" || (finding.State == Met) != (finding.Fix == "") || len(finding.Found) > 2000 {
				t.Errorf("got %+v", finding)
			}
		}
	})
}
