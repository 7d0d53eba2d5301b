package describe

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Completion returns a script that completes the commands, flags and IDs of root in bash, zsh or fish. The script gets
// the newest IDs from the list command of the same noun. Other shells are an error.
func Completion(root *kong.Node, shell string) (string, error) {
	all := listCommands(root)
	switch shell {
	case "bash":
		return bashCompletion(all), nil
	case "zsh":
		return zshCompletion(all), nil
	case "fish":
		return fishCompletion(all), nil
	default:
		return "", fmt.Errorf("shell %q: must be bash, zsh or fish", shell)
	}
}

// pathPatterns lists the commands of the program as shell patterns.
func pathPatterns(all []commandPath) string {
	var quoted []string
	for _, p := range all[1:] {
		quoted = append(quoted, "'"+p.path+"'")
	}
	return strings.Join(quoted, "|")
}

func bashCompletion(all []commandPath) string {
	var out strings.Builder
	fmt.Fprintf(&out,
		"# bash completion of postrider: source <(postrider completion bash)\n_postrider() {\n    local at=postrider word\n"+
			"    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n        case \"$at $word\" in %s) at=\"$at $word\" ;; esac\n    done\n    case \"$at\" in\n", pathPatterns(all))
	for _, p := range all {
		fmt.Fprintf(&out, "    '%s') COMPREPLY=($(compgen -W '%s' -- \"${COMP_WORDS[COMP_CWORD]}\"))", p.path,
			strings.Join(p.words(), " "))
		if list := p.listOfIDs(); list != "" { // filtered by the shell, because compgen would expand the content of an ID
			fmt.Fprintf(&out, "\n        for word in $(%s); do\n            case \"$word\" in "+
				"\"${COMP_WORDS[COMP_CWORD]}\"*) COMPREPLY+=(\"$word\") ;; esac\n        done", list)
		}
		out.WriteString(" ;;\n")
	}
	out.WriteString("    esac\n}\ncomplete -o default -F _postrider postrider\n")
	return out.String()
}

func zshCompletion(all []commandPath) string {
	var out strings.Builder
	fmt.Fprintf(&out,
		"#compdef postrider\n# zsh completion of postrider: postrider completion zsh > \"${fpath[1]}/_postrider\"\n_postrider() {\n    local at=postrider word\n    local -a names\n"+
			"    for word in ${words[2,CURRENT-1]}; do\n        case \"$at $word\" in %s) at=\"$at $word\" ;; esac\n    done\n    case \"$at\" in\n", pathPatterns(all))
	for _, p := range all {
		fmt.Fprintf(&out, "    '%s') names=(", p.path)
		for _, n := range p.below {
			fmt.Fprintf(&out, " %s", shellQuote(n.Name+":"+n.Help))
		}
		for _, f := range p.flags {
			fmt.Fprintf(&out, " %s", shellQuote("--"+f.Name+":"+f.Help))
		}
		if list := p.listOfIDs(); list != "" {
			fmt.Fprintf(&out, " ${(f)\"$(%s)\"}", list)
		}
		out.WriteString(") ;;\n")
	}
	out.WriteString("    esac\n    _describe postrider names\n    _files\n}\ncompdef _postrider postrider\n")
	return out.String()
}

func fishCompletion(all []commandPath) string {
	var out strings.Builder
	fmt.Fprintf(&out,
		"# fish completion of postrider: postrider completion fish > ~/.config/fish/completions/postrider.fish\nfunction __postrider_at\n    set -l at postrider\n"+
			"    for word in (commandline -opc)[2..-1]\n        if contains -- \"$at $word\" %s\n            set at \"$at $word\"\n        end\n"+
			"    end\n    test \"$at\" = \"$argv[1]\"\nend\n", strings.ReplaceAll(pathPatterns(all), "|", " "))
	for _, p := range all {
		at := fmt.Sprintf("complete -c postrider -n \"__postrider_at '%s'\"", p.path)
		for _, n := range p.below {
			fmt.Fprintf(&out, "%s -f -a %s -d %s\n", at, n.Name, fishQuote(n.Help))
		}
		for _, f := range p.flags {
			fmt.Fprintf(&out, "%s -l %s -d %s\n", at, f.Name, fishQuote(f.Help))
		}
		if list := p.listOfIDs(); list != "" {
			fmt.Fprintf(&out, "%s -f -a '(%s)'\n", at, list)
		}
	}
	return out.String()
}

func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func fishQuote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
