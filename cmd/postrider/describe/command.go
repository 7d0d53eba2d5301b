package describe

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// commandPath is a command with its flags and its path on the command line.
type commandPath struct {
	path  string // "postrider admin account create"
	node  *kong.Node
	below []*kong.Node
	flags []*kong.Flag // flags of the command and its parents
}

// listCommands lists the program and its commands, parents first.
func listCommands(root *kong.Node) []commandPath {
	var all []commandPath
	var walk func(path string, n *kong.Node, above []*kong.Flag)
	walk = func(path string, n *kong.Node, above []*kong.Flag) {
		flags := append(append([]*kong.Flag{}, above...), n.Flags...)
		p := commandPath{path: path, node: n, flags: visibleFlags(flags)}
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

func visibleFlags(flags []*kong.Flag) []*kong.Flag {
	var shown []*kong.Flag
	for _, f := range flags {
		if !f.Hidden {
			shown = append(shown, f)
		}
	}
	return shown
}

// words returns the words that can follow a command.
func (p commandPath) words() []string {
	var all []string
	for _, n := range p.below {
		all = append(all, n.Name)
	}
	for _, f := range p.flags {
		all = append(all, "--"+f.Name)
	}
	return all
}

// listOfIDs returns the command that prints the IDs that a command accepts: the list command of the same noun, if it
// can print only IDs. It returns "" if the command accepts no IDs.
func (p commandPath) listOfIDs() string {
	takesID := slices.ContainsFunc(p.node.Positional, func(v *kong.Positional) bool {
		return strings.Contains(v.Help, "ID")
	})
	if !takesID || p.node.Parent == nil {
		return ""
	}
	for _, sibling := range p.node.Parent.Children {
		printsIDs := slices.ContainsFunc(sibling.Flags, func(f *kong.Flag) bool { return f.Name == "quiet" })
		if sibling.Name == "list" && printsIDs {
			return strings.TrimSuffix(p.path, p.node.Name) + "list --quiet 2>/dev/null"
		}
	}
	return ""
}
