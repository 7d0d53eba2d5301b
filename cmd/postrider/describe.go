package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// place is a command on the command line, for whatever describes them all: completion and
// the man page. Both are made of the declarations that kong reads.
type place struct {
	path  string // "postrider account create"
	node  *kong.Node
	below []*kong.Node
	flags []*kong.Flag // of the command and of those above it
}

// places lists the program and its commands, each before those below it.
func places(root *kong.Node) []place {
	var all []place
	var walk func(path string, n *kong.Node, above []*kong.Flag)
	walk = func(path string, n *kong.Node, above []*kong.Flag) {
		flags := append(append([]*kong.Flag{}, above...), n.Flags...)
		p := place{path: path, node: n, flags: visible(flags)}
		for _, child := range n.Children {
			if child.Type == kong.CommandNode && !child.Hidden {
				p.below = append(p.below, child)
			}
		}
		all = append(all, p)
		for _, child := range p.below {
			walk(path+" "+child.Name, child, flags)
		}
	}
	walk(root.Name, root, nil)
	return all
}

func visible(flags []*kong.Flag) []*kong.Flag {
	var shown []*kong.Flag
	for _, f := range flags {
		if !f.Hidden {
			shown = append(shown, f)
		}
	}
	return shown
}

// words are all that can follow a command.
func (p place) words() []string {
	var all []string
	for _, n := range p.below {
		all = append(all, n.Name)
	}
	for _, f := range p.flags {
		all = append(all, "--"+f.Name)
	}
	return all
}

// paths lists the commands below the program as shell patterns.
func paths(all []place) string {
	var quoted []string
	for _, p := range all[1:] {
		quoted = append(quoted, "'"+p.path+"'")
	}
	return strings.Join(quoted, "|")
}

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (c *completionCommand) Run(s *session) error {
	var line commandLine
	parser, err := line.parser(s)
	if err != nil {
		return err
	}
	all := places(parser.Model.Node)
	script := map[string]func([]place) string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell]
	_, err = fmt.Fprint(s.out, script(all))
	return err
}

func bashCompletion(all []place) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# bash completion of postrider: source <(postrider completion bash)\n_postrider() {\n    local at=postrider word\n"+
		"    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n        case \"$at $word\" in %s) at=\"$at $word\" ;; esac\n    done\n    case \"$at\" in\n", paths(all))
	for _, p := range all {
		fmt.Fprintf(&out, "    '%s') COMPREPLY=($(compgen -W '%s' -- \"${COMP_WORDS[COMP_CWORD]}\")) ;;\n", p.path, strings.Join(p.words(), " "))
	}
	out.WriteString("    esac\n}\ncomplete -o default -F _postrider postrider\n")
	return out.String()
}

func zshCompletion(all []place) string {
	var out strings.Builder
	fmt.Fprintf(&out, "#compdef postrider\n# zsh completion of postrider: postrider completion zsh > \"${fpath[1]}/_postrider\"\n_postrider() {\n    local at=postrider word\n    local -a names\n"+
		"    for word in ${words[2,CURRENT-1]}; do\n        case \"$at $word\" in %s) at=\"$at $word\" ;; esac\n    done\n    case \"$at\" in\n", paths(all))
	for _, p := range all {
		fmt.Fprintf(&out, "    '%s') names=(", p.path)
		for _, n := range p.below {
			fmt.Fprintf(&out, " %s", shellQuote(n.Name+":"+n.Help))
		}
		for _, f := range p.flags {
			fmt.Fprintf(&out, " %s", shellQuote("--"+f.Name+":"+f.Help))
		}
		out.WriteString(") ;;\n")
	}
	out.WriteString("    esac\n    _describe postrider names\n    _files\n}\ncompdef _postrider postrider\n")
	return out.String()
}

func fishCompletion(all []place) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# fish completion of postrider: postrider completion fish > ~/.config/fish/completions/postrider.fish\nfunction __postrider_at\n    set -l at postrider\n"+
		"    for word in (commandline -opc)[2..-1]\n        if contains -- \"$at $word\" %s\n            set at \"$at $word\"\n        end\n"+
		"    end\n    test \"$at\" = \"$argv[1]\"\nend\n", strings.ReplaceAll(paths(all), "|", " "))
	for _, p := range all {
		at := fmt.Sprintf("complete -c postrider -n \"__postrider_at '%s'\"", p.path)
		for _, n := range p.below {
			fmt.Fprintf(&out, "%s -f -a %s -d %s\n", at, n.Name, fishQuote(n.Help))
		}
		for _, f := range p.flags {
			fmt.Fprintf(&out, "%s -l %s -d %s\n", at, f.Name, fishQuote(f.Help))
		}
	}
	return out.String()
}

func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func fishQuote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
