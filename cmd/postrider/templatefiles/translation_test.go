package templatefiles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func writeTestFiles(t *testing.T, files map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestReadsTranslations(t *testing.T) {
	t.Parallel()
	folder := writeTestFiles(t, map[string]string{
		"hi.html":       "---\nsubject: Hi\n---\n<p>Hi",
		"hi.pt-br.html": "---\nsubject: Oi\n---\n<p>Oi",
		"hi.pt-br.txt":  "Oi",
		"hi.de.yaml":    "subject: Hallo\n",
		"v1.de.txt":     "---\nalias: old\n---\nno template of its own, so this is one",
	})
	all, err := read(folder)
	if err != nil {
		t.Fatal(err)
	}
	hallo, oi, html, text := "Hallo", "Oi", "<p>Oi", "Oi"
	want := []Translation{{Locale: "de", Subject: &hallo}, {Locale: "pt-BR", Subject: &oi, HTML: &html, Text: &text}}
	if len(all) != 2 || all[0].Alias != "hi" || all[1].Alias != "old" {
		t.Fatalf("read %+v, want hi and old", all)
	}
	if diff := cmp.Diff(want, all[0].Translations); diff != "" {
		t.Errorf("translations (-want +got):\n%s", diff)
	}
	// A pull writes the same content, and a second one changes nothing.
	again := t.TempDir()
	for _, wantChange := range []bool{true, false} {
		if _, changed, err := write(again, all[0]); err != nil || changed != wantChange {
			t.Errorf("written with change %t (%v), want %t", changed, err, wantChange)
		}
	}
	back, err := read(again)
	if err != nil || len(back) != 1 {
		t.Fatalf("read %+v (%v), want the template that was written", back, err)
	}
	if diff := cmp.Diff(all[0], back[0]); diff != "" {
		t.Errorf("after write and read (-want +got):\n%s", diff)
	}
}

func TestComparesTranslations(t *testing.T) {
	t.Parallel()
	oi, hallo := "Oi", "Hallo"
	before := Template{Alias: "hi", Translations: []Translation{{Locale: "pt", Text: &oi}, {Locale: "de", Text: &hallo}}}
	after := Template{Alias: "hi", Translations: []Translation{{Locale: "de", Text: &hallo}, {Locale: "pt", Text: &oi}}}
	if changes, err := compare(before, after); err != nil || len(changes) > 0 {
		t.Errorf("another order has changes (%v):\n%s", err, changes)
	}
	after.Translations[1].Text = &hallo
	changes, err := compare(before, after)
	if err != nil || !strings.Contains(string(changes), " text (pt):\n-Oi\n+Hallo\n") {
		t.Errorf("changes (%v):\n%s", err, changes)
	}
}

func TestRejectsEmptyTranslation(t *testing.T) {
	t.Parallel()
	for _, files := range []map[string]string{
		{"hi.txt": "Hi", "hi.de.yaml": ""},
		{"hi.txt": "Hi", "hi.de.txt": "---\nname: x\n---\nHallo"},
	} {
		if all, err := read(writeTestFiles(t, files)); err == nil || !strings.Contains(err.Error(), "hi.de: ") {
			t.Errorf("%v: read %+v (%v), want an error", files, all, err)
		}
	}
}
