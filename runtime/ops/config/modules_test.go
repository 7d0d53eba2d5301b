package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/ops/config"
)

func TestModulesAreChosenByListOrByMinus(t *testing.T) {
	t.Parallel()
	known := []string{"accounts", "domains", "sending", "inbound"}
	for spec, want := range map[string][]string{
		"":                      known,
		" , ":                   known,
		"-inbound":              {"accounts", "domains", "sending"},
		" - Inbound , -sending": {"accounts", "domains"},
		"sending,accounts":      {"accounts", "sending"},
		"inbound,inbound":       {"inbound"},
	} {
		got, err := config.ParseModules(spec, known)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", spec, err, diff)
		}
	}
	for spec, want := range map[string]string{
		"-inbond,-x":        `has "-inbond", which is no module; there are accounts, domains, sending, inbound`,
		"sending,-inbound":  "mixes modules to run (sending) and modules to switch off (-inbound)",
		"all":               `has "all"`,
		"-inbound,-,-x,dom": `has "dom"`,
	} {
		if got, err := config.ParseModules(spec, known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q = %v, %v, want %q", spec, got, err, want)
		}
	}
}
