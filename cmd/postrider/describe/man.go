package describe

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Man returns the man page of the program root in the format of man(7). Settings have their own section, because many
// commands use them.
func Man(root *kong.Node, version string) string {
	all := listCommands(root)
	var out strings.Builder
	fmt.Fprintf(&out,
		".TH POSTRIDER 1 \"\" \"postrider %s\" \"Postrider\"\n.SH NAME\npostrider \\- transactional email: an HTTP API that accepts, signs and delivers\n", escapeRoff(version))
	fmt.Fprintf(&out, ".SH SYNOPSIS\n.B postrider\n.I command\n.RI [ flags ]\n.SH DESCRIPTION\n%s\n.SH COMMANDS\n",
		escapeRoff(root.Help))
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
	out.WriteString(".SH SETTINGS\nYou can set each setting with a flag, an environment variable or a key in the file of \\-\\-config. A flag overrides the environment, and the environment overrides the file.\n")
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
func manCommandOf(out *strings.Builder, p commandPath, settings map[string]*kong.Flag) {
	fmt.Fprintf(out, ".SS %s%s\n%s\n", escapeRoff(p.path), formatArguments(p.node), escapeRoff(p.node.Help))
	var shared []string
	for _, f := range p.flags {
		switch {
		case settings[f.Name] != nil:
			shared = append(shared, "\\-\\-"+escapeRoff(f.Name))
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
		value = "=\\fI" + escapeRoff(f.PlaceHolder) + "\\fR"
	}
	fmt.Fprintf(out, ".TP\n\\fB\\-\\-%s\\fR%s\n%s", escapeRoff(f.Name), value, escapeRoff(f.Help))
	if len(f.Envs) > 0 {
		fmt.Fprintf(out, " (%s)", escapeRoff(strings.Join(f.Envs, ", ")))
	}
	out.WriteString("\n")
}

func formatArguments(n *kong.Node) string {
	var out strings.Builder
	for _, p := range n.Positional {
		out.WriteString(" " + escapeRoff("<"+p.Name+">"))
	}
	return out.String()
}

// escapeRoff escapes characters that are special in man(7).
func escapeRoff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(strings.ReplaceAll(text, "\n", " "))
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
