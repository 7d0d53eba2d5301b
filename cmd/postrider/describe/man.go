package describe

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Man returns the man page of the program root in the language of man(7). Settings have a section of their
// own, because many commands use them.
func Man(root *kong.Node, version string) string {
	all := places(root)
	var out strings.Builder
	fmt.Fprintf(&out, ".TH POSTRIDER 1 \"\" \"postrider %s\" \"Postrider\"\n.SH NAME\npostrider \\- transactional email: an HTTP API that accepts, signs and delivers\n", roff(version))
	fmt.Fprintf(&out, ".SH SYNOPSIS\n.B postrider\n.I command\n.RI [ flags ]\n.SH DESCRIPTION\n%s\n.SH COMMANDS\n", roff(root.Help))
	settings := map[string]*kong.Flag{}
	for _, p := range all {
		if p.path == "postrider serve" {
			for _, f := range p.flags {
				if len(f.Envs) > 0 {
					settings[f.Name] = f
				}
			}
		}
	}
	for _, p := range all[1:] {
		if len(p.below) == 0 {
			manCommandOf(&out, p, settings)
		}
	}
	out.WriteString(".SH SETTINGS\nEach setting is a flag, an environment variable and a key of the file that \\-\\-config names. A flag overrides the environment, and the environment overrides the file.\n")
	for _, p := range all {
		if p.path == "postrider serve" {
			for _, f := range p.flags {
				if settings[f.Name] != nil {
					manFlag(&out, f)
				}
			}
		}
	}
	out.WriteString(".SH EXIT STATUS\n0: success. 1: failure. 2: invalid command line or settings; nothing was changed. For doctor: 0: no problems, 1: warnings, 2: errors.\n")
	return out.String()
}

// manCommandOf describes a command. Of its settings, it lists only the names.
func manCommandOf(out *strings.Builder, p place, settings map[string]*kong.Flag) {
	fmt.Fprintf(out, ".SS %s%s\n%s\n", roff(p.path), arguments(p.node), roff(p.node.Help))
	var shared []string
	for _, f := range p.flags {
		switch {
		case settings[f.Name] != nil:
			shared = append(shared, "\\-\\-"+roff(f.Name))
		case f.Name != "help" && f.Name != "version":
			manFlag(out, f)
		}
	}
	if len(shared) > 0 {
		fmt.Fprintf(out, ".PP\nSettings: %s.\n", strings.Join(shared, ", "))
	}
}

func manFlag(out *strings.Builder, f *kong.Flag) {
	value := ""
	if !f.IsBool() && f.PlaceHolder != "" {
		value = "=\\fI" + roff(f.PlaceHolder) + "\\fR"
	}
	fmt.Fprintf(out, ".TP\n\\fB\\-\\-%s\\fR%s\n%s", roff(f.Name), value, roff(f.Help))
	if len(f.Envs) > 0 {
		fmt.Fprintf(out, " (%s)", roff(strings.Join(f.Envs, ", ")))
	}
	out.WriteString("\n")
}

func arguments(n *kong.Node) string {
	var out strings.Builder
	for _, p := range n.Positional {
		out.WriteString(" " + roff("<"+p.Name+">"))
	}
	return out.String()
}

// roff escapes characters that are special in man(7).
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(strings.ReplaceAll(text, "\n", " "))
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
