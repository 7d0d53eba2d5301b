package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/ops/config"
)

func TestParseModules(t *testing.T) {
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
			t.Errorf("%q returned %v (-want +got):\n%s", spec, err, diff)
		}
	}
	for spec, want := range map[string]string{
		"-inbond,-x":        `has the unknown module "-inbond"; must be among accounts, domains, sending, inbound`,
		"sending,-inbound":  "cannot combine modules to run (sending) with modules to disable (-inbound)",
		"all":               `unknown module "all"`,
		"-inbound,-,-x,dom": `unknown module "dom"`,
	} {
		if got, err := config.ParseModules(spec, known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q returned %v, %v, want %q", spec, got, err, want)
		}
	}
}
