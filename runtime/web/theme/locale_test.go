package theme

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestLanguageOfTheReader(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]string{
		"":                               "en",
		"de":                             "de",
		"DE-at":                          "de",
		"de-CH, en;q=0.5":                "de",
		"en-GB,en;q=0.9,de;q=0.8":        "en",
		"fr-CA":                          "fr",
		"es-419,es;q=0.9":                "es",
		"pt-BR,pt;q=0.9":                 "pt",
		"it":                             "it",
		"nl-BE":                          "nl",
		"pl":                             "pl",
		"ja-JP":                          "ja",
		"xh, ja;q=0.1":                   "ja",
		"xh, zh-CN":                      "en",
		"*":                              "en",
		"de;q=0":                         "en",
		"fr;q=0, pl;q=0.1":               "pl",
		"de;q=x":                         "en",
		"\x00\xff":                       "en",
		"not a language at all!":         "en",
		strings.Repeat("de,", maxAccept): "en",
		strings.Repeat("-", maxAccept):   "en",
	} {
		if got := MatchLanguage(accept); got != want {
			t.Errorf("Accept-Language %.60q is answered in %q, want %q", accept, got, want)
		}
	}
}

func TestFindsNoLanguage(t *testing.T) {
	t.Parallel()
	for _, accept := range []string{"", "xx", ";;;", "de;q=x", strings.Repeat("de,", maxAccept)} {
		if got := FindLanguage(accept); got != "" {
			t.Errorf("FindLanguage(%.40q) = %q, want none", accept, got)
		}
	}
}

func TestWordsOfEveryLanguage(t *testing.T) {
	t.Parallel()
	type words struct{ Hello string }
	files := fstest.MapFS{}
	for _, name := range Languages() {
		files["words/"+name+".json"] = &fstest.MapFile{Data: []byte(`{"hello":"` + name + `"}`)}
	}
	for name, w := range LoadWords[words](files) {
		if w.Hello != name {
			t.Errorf("the words of %s are those of %s", name, w.Hello)
		}
	}
	files["words/de.json"].Data = []byte(`{"hallo":"x"}`)
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "words of de") {
			t.Errorf("an unknown field causes %q, want a panic about the words of de", got)
		}
	}()
	LoadWords[words](files)
}

func FuzzLanguage(f *testing.F) {
	f.Add("de-CH, en;q=0.5")
	f.Add("i-klingon,*;q=0.1")
	f.Fuzz(func(t *testing.T, accept string) {
		if got := MatchLanguage(accept); !slices.Contains(Languages(), got) {
			t.Fatalf("Accept-Language %q got the language %q, which is not supported", accept, got)
		}
	})
}
