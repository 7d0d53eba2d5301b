package templatefiles

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Partials come before their users, also in translations, then layouts and templates. Cycles do not stop it.
func TestReadsComponentsInOrderOfUse(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, content := range map[string]string{
		"a.html":                       `{% layout "base" %}{% block "x" %}{% render "button" %}{% endblock %}`,
		"mail/partials/a-box.html":     `{%- render 'button' %}`,
		"mail/partials/button.html":    `<p>`,
		"mail/partials/button.de.html": `{% render "z-icon" %}`,
		"mail/partials/z-icon.txt":     `{% render "button" %}{% render "none" %}`,
		"layouts/base.html":            `{% render "button" %}`,
		"layouts/cards/zebra.html":     `x`,
	} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := read(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range all {
		got = append(got, one.Kind+" "+one.Alias)
	}
	want := []string{"partial z-icon", "partial button", "partial a-box", "layout base", "layout zebra", " a"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the order differs (-want +got):\n%s", diff)
	}
	// A pull writes them to folders that a push reads as the same kinds.
	back := t.TempDir()
	for _, one := range all {
		if _, _, err := write(back, one); err != nil {
			t.Fatal(err)
		}
	}
	again, err := read(back)
	if err != nil {
		t.Fatal(err)
	}
	for i := range again {
		if again[i].Kind != all[i].Kind || again[i].Alias != all[i].Alias {
			t.Errorf("after write and read, position %d is %s %s, want %s", i, again[i].Kind, again[i].Alias, got[i])
		}
	}
}
