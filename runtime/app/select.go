package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

// Select returns the modules to run: all modules of the mode except the disabled ones. The error contains every reason
// why the set cannot run.
func Select(on []string, dev bool) ([]Module, error) {
	var chosen []Module
	var wrong setting.Mistakes
	mistake := func(format string, args ...any) {
		wrong = append(wrong, setting.Mistake{Setting: config.Modules.Name, Problem: fmt.Sprintf(format, args...)})
	}
	for _, m := range registry {
		switch {
		case m.Dev && !dev:
		case slices.Contains(on, m.Name):
			chosen = append(chosen, m)
		case m.Always:
			mistake("module %s cannot be switched off", m.Name)
		}
	}
	for _, m := range chosen {
		for _, needed := range m.Requires {
			if !slices.Contains(on, needed) {
				mistake("module %s requires %s: enable %s, or disable %s too", m.Name, needed, needed, m.Name)
			}
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return chosen, nil
}

// ModuleNames lists the names that POSTRIDER_MODULES accepts in the mode.
func ModuleNames(dev bool) []string {
	var names []string
	for _, m := range registry {
		if dev || !m.Dev {
			names = append(names, m.Name)
		}
	}
	return names
}

// ModuleTable returns the output of `postrider modules`.
func ModuleTable(cfg setting.Values) (string, error) {
	modules, err := selectModules(cfg)
	if err != nil {
		return "", err
	}
	names := Foundation{Modules: modules}.names()
	rows := [][]string{{"MODULE", "ON", "REQUIRES", "USES", "WHAT FOR"}}
	for _, m := range registry {
		line := m.Line
		if m.Always {
			line += " (always on)"
		}
		on := "no"
		if slices.Contains(names, m.Name) {
			on = "yes"
		}
		rows = append(rows, []string{m.Name, on, orDash(m.Requires), orDash(m.Uses), line})
	}
	var out strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&out, "%-11s %-3s %-52s %-10s %s\n", r[0], r[1], r[2], r[3], r[4])
	}
	return out.String(), nil
}

func orDash(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(names, ", ")
}
