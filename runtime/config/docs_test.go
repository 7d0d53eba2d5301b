package config

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var readmeRow = regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| ([^|]+) \\|")

// The table in docs/settings.md names settings that exist, with the defaults that they have.
func TestSettingsTableIsTrue(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	help := map[string]string{}
	collectHelp(reflect.TypeFor[Settings](), help)
	rows := readmeRow.FindAllStringSubmatch(string(readme), -1)
	if len(rows) < 8 {
		t.Fatalf("found %d rows: the table has changed its form", len(rows))
	}
	for _, row := range rows {
		text, exists := help[row[1]]
		if !exists {
			t.Errorf("%s is in docs/settings.md and is not a setting", row[1])
		}
		// A default that is a value is in the help in brackets, too.
		if value := strings.Trim(row[2], "`"); regexp.MustCompile(`^[\d.:]+$`).MatchString(value) && !strings.Contains(text, "("+value+")") {
			t.Errorf("%s: docs/settings.md says %s, the help %q", row[1], value, text)
		}
	}
	cfg, err := Resolve(Dev, Settings{})
	if err != nil || !slices.ContainsFunc(rows, func(row []string) bool {
		return row[1] == "POSTRIDER_HTTP_ADDR" && strings.Contains(row[2], cfg.HTTP.Addr)
	}) {
		t.Errorf("docs/settings.md has another address than %s (%v)", cfg.HTTP.Addr, err)
	}
}

func collectHelp(of reflect.Type, into map[string]string) {
	for field := range of.Fields() {
		if field.Anonymous {
			collectHelp(field.Type, into)
			continue
		}
		into[firstOf(field.Tag.Get("env"))] = field.Tag.Get("help")
	}
}
